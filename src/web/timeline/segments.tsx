/** The bar of a step with its label, and the legend of the patterns. */
import { Box, Group, Text } from "@mantine/core";
import * as texts from "#texts/timeline";
import type { StepStatus } from "../../../schemas/run-status.ts";
import { STATUS_STYLES } from "../ui/status-badge.tsx";
import type { Bar, Activity, TimeRange } from "./bars.ts";
import { placeLabel } from "./place-label.ts";
import css from "./run-timeline.module.css";

const PATTERN: Readonly<Record<Activity, string>> = {
  running: css["running"]!,
  waiting: css["waiting"]!,
  backoff: css["backoff"]!,
};

const LIGHT_SHADES: Readonly<Record<string, string>> = { yellow: "orange-9", gray: "gray-6" };

/** Shades with a contrast of at least 3:1 to the page in both schemes (WCAG 1.4.11). */
function segmentColors(status: StepStatus): Record<string, string> {
  const { color } = STATUS_STYLES[status];
  const light = LIGHT_SHADES[color] ?? `${color}-8`;
  return {
    "--segment-color-light": `var(--mantine-color-${light})`,
    "--segment-color-dark": `var(--mantine-color-${color}-5)`,
  };
}

const percent = (part: number, whole: number): string => `${(100 * part) / whole}%`;

export function BarSegments({ bar, span }: { bar: Bar; span: TimeRange }) {
  const length = span.to - span.from;
  return bar.segments.map(({ activity, from, to, status }, index) => (
    <span
      key={`${activity} ${from} ${to}`}
      className={`${css["segment"]} ${PATTERN[activity]} ${bar.ongoing && index === bar.segments.length - 1 ? css["open"] : ""}`}
      style={{
        ...segmentColors(status),
        // Keeps a very short segment visible at the end of the axis.
        left: `min(${percent(from - span.from, length)}, calc(100% - 3px))`,
        width: percent(to - from, length),
      }}
    />
  ));
}

interface BarLabelProps {
  bar: Bar | null;
  span: TimeRange;
  label: string;
  /** In pixels. */
  axisWidth: number;
}

/** The label of a bar: after it if there is room, otherwise before it, otherwise on it. */
export function BarLabel({ bar, span, label, axisWidth }: BarLabelProps) {
  const place = placeLabel(label, bar, span, axisWidth);
  const inside = place.side === "inside";
  return (
    <Text
      span
      size="xs"
      {...(!inside && { c: "dimmed" })}
      className={`${css["label"]} ${inside ? css["inside"] : ""}`}
      style={place.side === "after" ? { left: percent(place.left, 1) } : { right: percent(place.right, 1) }}
    >
      {label}
    </Text>
  );
}

const LEGEND: readonly [Activity, string][] = [
  ["running", texts.legendRunning],
  ["waiting", texts.legendWaiting],
  ["backoff", texts.legendBackoff],
];

/** @param marks whether what happened to approvals is marked */
export function Legend({ marks }: { marks: boolean }) {
  return (
    <Group gap="4px 16px" component="ul" m={0} p={0} style={{ listStyle: "none" }} aria-label={texts.legend}>
      {LEGEND.map(([activity, text]) => (
        <Group key={activity} component="li" gap={6} wrap="nowrap">
          <Box pos="relative" w={26} h={12} aria-hidden style={{ flexShrink: 0 }}>
            <span
              className={`${css["segment"]} ${PATTERN[activity]}`}
              style={{ ...segmentColors("pending"), left: 0, width: "100%" }}
            />
          </Box>
          <Text size="xs" c="dimmed">
            {text}
          </Text>
        </Group>
      ))}
      {marks && (
        <Group component="li" gap={6} wrap="nowrap">
          <Box pos="relative" w={12} h={12} aria-hidden style={{ flexShrink: 0 }}>
            <span className={css["mark"]} style={{ left: "50%" }} />
          </Box>
          <Text size="xs" c="dimmed">
            {texts.legendMarks}
          </Text>
        </Group>
      )}
    </Group>
  );
}

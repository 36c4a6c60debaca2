/** The bar of a step with its label, and the legend of the patterns. */
import { Box, Group, Text } from "@mantine/core";
import type { StepStatus } from "../../../schemas/run.ts";
import { STATUS_STYLES } from "../ui/status-badge.tsx";
import type { Bar, Activity, TimeRange } from "./bars.ts";
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

/** The lower edge of a bar in the colour of failures, as high as the part of the items that failed. */
export function FailedPart({ bar: { from, to, failedPart }, span }: { bar: Bar; span: TimeRange }) {
  if (failedPart === 0) return null;
  const length = span.to - span.from;
  return (
    <span
      className={`${css["segment"]} ${css["failed"]}`}
      style={{
        ...segmentColors("failed"),
        left: `min(${percent(from - span.from, length)}, calc(100% - 3px))`,
        width: percent(to - from, length),
        height: percent(failedPart, 1),
      }}
    />
  );
}

interface BarLabelProps {
  bar: Bar | null;
  span: TimeRange;
  label: string;
  /** How many of its items have failed. */
  failed: string | null;
}

/** The label of a bar: after it if there is room, otherwise before it, otherwise on it. */
export function BarLabel({ bar, span, label, failed }: BarLabelProps) {
  const length = span.to - span.from;
  const from = bar === null ? 0 : (bar.from - span.from) / length;
  const to = bar === null ? 0 : (bar.to - span.from) / length;
  const place =
    to < 0.7
      ? { left: percent(to, 1) }
      : from > 0.3
        ? { right: percent(1 - from, 1) }
        : { right: percent(1 - to, 1), marginRight: 6 };
  const inside = to >= 0.7 && from <= 0.3;
  return (
    <Text
      span
      size="xs"
      {...(!inside && { c: "dimmed" })}
      className={`${css["label"]} ${inside ? css["inside"] : ""}`}
      style={place}
    >
      {label}
      {failed !== null && (
        <>
          {", "}
          <Text span inherit fw={700} c="var(--mantine-color-error)">
            {failed}
          </Text>
        </>
      )}
    </Text>
  );
}

const LEGEND: readonly [Activity, string][] = [
  ["running", "Running"],
  ["waiting", "Waiting (for a time, an approval, an event or another run)"],
  ["backoff", "Waiting to retry"],
];

export function Legend() {
  return (
    <Group gap="4px 16px" component="ul" m={0} p={0} style={{ listStyle: "none" }} aria-label="Legend">
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
    </Group>
  );
}

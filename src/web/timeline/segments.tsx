/** The bar of a step, drawn; and the legend that says what its patterns mean. */
import { Box, Group, Text } from "@mantine/core";
import type { StepStatus } from "../../../schemas/run.ts";
import { STATUS_STYLES } from "../ui/status-badge.tsx";
import type { Bar, Activity, TimeRange } from "./bars.ts";
import css from "./run-timeline.module.css";

const PATTERN: Readonly<Record<Activity, string>> = {
  working: css["working"]!,
  waiting: css["waiting"]!,
  pausing: css["pausing"]!,
};

const LIGHT: Readonly<Record<string, string>> = { yellow: "orange-9", gray: "gray-6" };

/** Shades that stand out from the page by 3:1 in both schemes (WCAG 1.4.11). */
function ink(status: StepStatus): Record<string, string> {
  const { color } = STATUS_STYLES[status];
  const light = LIGHT[color] ?? `${color}-8`;
  return { "--ink-light": `var(--mantine-color-${light})`, "--ink-dark": `var(--mantine-color-${color}-5)` };
}

const percent = (part: number, whole: number): string => `${(100 * part) / whole}%`;

export function BarSegments({ bar, span }: { bar: Bar; span: TimeRange }) {
  const length = span.to - span.from;
  return bar.segments.map(({ activity, from, to, status }, index) => (
    <span
      key={`${activity} ${from} ${to}`}
      className={`${css["segment"]} ${PATTERN[activity]} ${bar.ongoing && index === bar.segments.length - 1 ? css["open"] : ""}`}
      style={{
        ...ink(status),
        // What is too short to be seen stays within the axis all the same.
        left: `min(${percent(from - span.from, length)}, calc(100% - 3px))`,
        width: percent(to - from, length),
      }}
    />
  ));
}

/** The word of a bar: after it where there is room, else before it, else on it. */
export function BarLabel({ bar, span, word }: { bar: Bar | null; span: TimeRange; word: string }) {
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
      className={`${css["word"]} ${inside ? css["inside"] : ""}`}
      style={place}
    >
      {word}
    </Text>
  );
}

const LEGEND: readonly [Activity, string][] = [
  ["working", "working"],
  ["waiting", "waiting (for a moment, a person, another run)"],
  ["pausing", "between attempts"],
];

export function Legend() {
  return (
    <Group
      gap="4px 16px"
      component="ul"
      m={0}
      p={0}
      style={{ listStyle: "none" }}
      aria-label="What the bars mean"
    >
      {LEGEND.map(([doing, words]) => (
        <Group key={doing} component="li" gap={6} wrap="nowrap">
          <Box pos="relative" w={26} h={12} aria-hidden style={{ flexShrink: 0 }}>
            <span
              className={`${css["segment"]} ${PATTERN[doing]}`}
              style={{ ...ink("pending"), left: 0, width: "100%" }}
            />
          </Box>
          <Text size="xs" c="dimmed">
            {words}
          </Text>
        </Group>
      ))}
    </Group>
  );
}

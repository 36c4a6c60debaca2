/** Small bars of the runs of some days, the oldest at the left; failed runs are at the top of a bar. */
import { Group, Text } from "@mantine/core";
import classes from "./day-bars.module.css";
import { type DayCount, describeCount } from "./last-days.ts";

/** Sizes in pixels. */
const BAR_WIDTH = 8;
const GAP = 2;
export const BARS_HEIGHT = 28;
/** Height of what a bar shows at all, in pixels: one failed run of thousands must be visible. */
const MIN_HEIGHT = 2;

export const barsWidth = (days: number): number => days * (BAR_WIDTH + GAP) - GAP;

interface DayBarsProps {
  counts: readonly DayCount[];
  /** The text alternative. */
  label: string;
}

/** The highest bar is as high as the image, so that the bars of a rare workflow are visible too. */
export function DayBars({ counts, label }: DayBarsProps) {
  const max = Math.max(...counts.map(({ runs }) => runs));
  const width = barsWidth(counts.length);
  return (
    <svg
      className={classes["bars"]}
      width={width}
      height={BARS_HEIGHT}
      viewBox={`0 0 ${width} ${BARS_HEIGHT}`}
      role="img"
      aria-label={label}
    >
      {counts.map((count, index) => (
        <g key={count.day}>
          <title>{`${count.day}: ${describeCount(count)}`}</title>
          <rect
            x={index * (BAR_WIDTH + GAP)}
            width={BAR_WIDTH}
            height={BARS_HEIGHT}
            className={classes["day"]}
          />
          <DayBar count={count} max={max} x={index * (BAR_WIDTH + GAP)} />
        </g>
      ))}
    </svg>
  );
}

function DayBar({ count: { runs, succeeded, failed }, max, x }: { count: DayCount; max: number; x: number }) {
  if (runs === 0)
    return <rect x={x} y={BARS_HEIGHT - 1} width={BAR_WIDTH} height={1} className={classes["none"]} />;
  const scale = (n: number): number => (n === 0 ? 0 : Math.max(MIN_HEIGHT, (n / max) * BARS_HEIGHT));
  const height = scale(runs);
  const failedHeight = Math.min(height, scale(failed));
  const otherHeight = Math.min(height - failedHeight, scale(runs - succeeded - failed));
  const top = BARS_HEIGHT - height;
  return (
    <>
      <rect x={x} y={top} width={BAR_WIDTH} height={failedHeight} className={classes["failed"]} />
      <rect
        x={x}
        y={top + failedHeight}
        width={BAR_WIDTH}
        height={otherHeight}
        className={classes["other"]}
      />
      <rect
        x={x}
        y={top + failedHeight + otherHeight}
        width={BAR_WIDTH}
        height={height - failedHeight - otherHeight}
        className={classes["succeeded"]}
      />
    </>
  );
}

const KEYS = ["succeeded", "failed", "other"] as const;

/** What the colors of the bars mean. */
export const DayBarsLegend = () => (
  <Group gap="md" aria-hidden>
    {KEYS.map((key) => (
      <Text key={key} size="xs" c="dimmed" component="span" className={classes["key"]}>
        <svg width={8} height={8}>
          <rect width={8} height={8} className={classes[key]} />
        </svg>
        {key}
      </Text>
    ))}
  </Group>
);

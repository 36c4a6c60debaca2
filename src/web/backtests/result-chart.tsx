/** The results in the order of the runs: one mark for each, the oldest at the left. */
import { Box, Group, Stack, Text } from "@mantine/core";
import type { BacktestResult, BacktestRun } from "../../../schemas/backtest.ts";
import classes from "./result-chart.module.css";
import { describeMarks, RESULT_LABELS, RESULTS } from "./results.ts";

/** Height of the chart, in its own units. */
const HEIGHT = 12;
/** Height of a mark, in the units of the chart. */
const HEIGHTS: Readonly<Record<BacktestResult | "pending", number>> = {
  equal: 4,
  not_comparable: 6,
  different: 9,
  failing: 12,
  pending: 1,
};
/** Maximum width of a mark, in pixels: few runs would make broad blocks. */
const MAX_MARK_PX = 14;
/** Width of a mark and of the gap after it, in the units of the chart. */
const MARK = 4;
const GAP = 1;

interface ResultChartProps {
  /** The newest first. */
  runs: readonly Pick<BacktestRun, "run_id" | "result">[];
}

export function ResultChart({ runs }: ResultChartProps) {
  const oldestFirst = runs.toReversed();
  const present = RESULTS.filter((result) => runs.some((run) => run.result === result));
  const hasPending = runs.some(({ result }) => result === null);
  return (
    <Stack gap={6}>
      <Box maw={runs.length * MAX_MARK_PX}>
        <svg
          className={classes["chart"]}
          viewBox={`0 0 ${runs.length * (MARK + GAP)} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={describeMarks(oldestFirst.map(({ result }) => result))}
        >
          {oldestFirst.map(({ run_id: id, result }, index) => (
            <Mark key={id} result={result} x={index * (MARK + GAP)} title={id} />
          ))}
        </svg>
      </Box>
      <Group gap="md" aria-hidden>
        {present.map((result) => (
          <Key key={result} result={result} label={RESULT_LABELS[result]} />
        ))}
        {hasPending && <Key result={null} label="pending" />}
        <Text size="xs" c="dimmed">
          oldest run at the left
        </Text>
      </Group>
    </Stack>
  );
}

interface MarkProps {
  result: BacktestResult | null;
  x: number;
  title?: string;
}

function Mark({ result, x, title }: MarkProps) {
  const kind = result ?? "pending";
  const height = HEIGHTS[kind];
  return (
    <rect x={x} y={HEIGHT - height} width={MARK} height={height} className={classes[kind]}>
      {title !== undefined && (
        <title>
          {title}: {result === null ? "pending" : RESULT_LABELS[result]}
        </title>
      )}
    </rect>
  );
}

function Key({ result, label }: { result: BacktestResult | null; label: string }) {
  return (
    <Text size="xs" component="span" className={classes["key"]}>
      <svg viewBox={`0 0 ${MARK} ${HEIGHT}`} preserveAspectRatio="none">
        <Mark result={result} x={0} />
      </svg>
      {label}
    </Text>
  );
}

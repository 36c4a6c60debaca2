/** The timeline of a run: a row per step, with a bar for when it ran, waited, or backed off. */
import { Box, Stack, Text } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { type ReactNode, useCallback, useMemo } from "react";
import * as texts from "#texts/timeline";
import type { RunStep } from "../../../schemas/run.ts";
import { EmptyState } from "../ui/page.tsx";
import { buildBar, timeRangeOf, tickLabel, axisTicks } from "./bars.ts";
import { textWidth } from "./place-label.ts";
import { Legend } from "./segments.tsx";
import { TimelineRows } from "./timeline-rows.tsx";

/** Width below which the names are shown above their bars, in pixels. */
const NARROW_WIDTH = 640;
const LABEL_SPACE = 228;
/** Width of a tick label, in pixels. */
const TICK_WIDTH = 90;

interface RunTimelineProps {
  steps: readonly RunStep[];
  startedAt: string | null;
  finishedAt: string | null;
  /** Milliseconds since 1970; the end of steps that have not ended. */
  now: number;
  /** How far the approvals are that several people decide, by the id of the step. */
  progress?: ReadonlyMap<string, string>;
  /** What started the run, above the rows. */
  startedBy?: ReactNode;
  selected?: string | undefined;
  onSelect?: (stepId: string) => void;
}

const NO_PROGRESS: ReadonlyMap<string, string> = new Map();

export function RunTimeline({
  steps,
  startedAt,
  finishedAt,
  now,
  progress = NO_PROGRESS,
  startedBy,
  selected,
  onSelect,
}: RunTimelineProps) {
  const { ref: frame, width } = useElementSize();
  const narrow = width > 0 && width < NARROW_WIDTH;
  const bars = useMemo(() => steps.map((step) => buildBar(step, now)), [steps, now]);
  const span = useMemo(
    () => timeRangeOf(bars, startedAt, finishedAt, now),
    [bars, startedAt, finishedAt, now],
  );
  const axisWidth = Math.max(1, width - (narrow ? 16 : LABEL_SPACE + 8));
  const maxTicks = Math.max(2, Math.floor(axisWidth / TICK_WIDTH));
  const length = span.to - span.from;
  const ticks = useMemo(() => axisTicks(length, maxTicks), [length, maxTicks]);
  const labelled = ticks.filter((tick) => fits(tick, length, axisWidth));
  const select = useCallback((id: string) => onSelect?.(id), [onSelect]);
  if (steps.length === 0) return <EmptyState title={texts.noStepsTitle}>{texts.noSteps}</EmptyState>;
  return (
    <Stack gap="xs" ref={frame}>
      {startedBy}
      <Legend marks={steps.some(({ approval_list: list }) => (list?.length ?? 0) > 0)} />
      <TimelineRows
        key={narrow ? "narrow" : "wide"}
        axis={<Axis ticks={labelled} length={length} narrow={narrow} />}
        steps={steps}
        bars={bars}
        span={span}
        ticks={ticks}
        narrow={narrow}
        axisWidth={axisWidth}
        progress={progress}
        selected={selected}
        onSelect={select}
      />
    </Stack>
  );
}

/** Whether the label of a tick ends within the axis. */
const fits = (tick: number, length: number, axisWidth: number): boolean =>
  (tick / length) * axisWidth + textWidth(tickLabel(tick)) <= axisWidth + 8;

/** The time since the start of the run. */
function Axis({ ticks, length, narrow }: { ticks: readonly number[]; length: number; narrow: boolean }) {
  return (
    <Box aria-hidden pos="relative" h="100%" ml={narrow ? 8 : LABEL_SPACE} mr={8}>
      {ticks.map((tick) => (
        <Text
          key={tick}
          span
          size="xs"
          c="dimmed"
          pos="absolute"
          left={`${(100 * tick) / length}%`}
          style={{ whiteSpace: "nowrap" }}
        >
          {tickLabel(tick)}
        </Text>
      ))}
    </Box>
  );
}

/** A run in time: each step a row, its bar where it worked, waited, or paused. It moves on with `now`. */
import { Box, Stack, Text } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useCallback, useMemo } from "react";
import type { RunStep } from "../../../schemas/run.ts";
import { EmptyState } from "../ui/page.tsx";
import { buildBar, timeRangeOf, tickLabel, axisTicks } from "./bars.ts";
import { Legend } from "./segments.tsx";
import { TimelineRows } from "./timeline-rows.tsx";

/** Below this width names stand above their bars. */
const NARROW = 640;
const LABEL_SPACE = 228;
/** Room that the label of a tick takes. */
const TICK_WIDTH = 90;
const CHAR_WIDTH = 7;

interface RunTimelineProps {
  steps: readonly RunStep[];
  /** Of the run. */
  startedAt: string | null;
  finishedAt: string | null;
  /** Milliseconds since 1970; what has not ended goes on until then. */
  now: number;
  /** The id of the step that is shown beside. */
  selected?: string | undefined;
  onSelect?: (stepId: string) => void;
}

export function RunTimeline({ steps, startedAt, finishedAt, now, selected, onSelect }: RunTimelineProps) {
  const { ref: frame, width } = useElementSize();
  const narrow = width > 0 && width < NARROW;
  const bars = useMemo(() => steps.map((step) => buildBar(step, now)), [steps, now]);
  const span = useMemo(
    () => timeRangeOf(bars, startedAt, finishedAt, now),
    [bars, startedAt, finishedAt, now],
  );
  const room = Math.max(1, width - (narrow ? 16 : LABEL_SPACE + 8));
  const most = Math.max(2, Math.floor(room / TICK_WIDTH));
  const length = span.to - span.from;
  const ticks = useMemo(() => axisTicks(length, most), [length, most]);
  const labelled = ticks.filter((tick) => fits(tick, length, room));
  const select = useCallback((id: string) => onSelect?.(id), [onSelect]);
  if (steps.length === 0)
    return <EmptyState title="No steps yet">The steps appear here once the run has begun.</EmptyState>;
  return (
    <Stack gap="xs" ref={frame}>
      <Legend />
      <TimelineRows
        key={narrow ? "narrow" : "wide"}
        axis={<Axis ticks={labelled} length={length} narrow={narrow} />}
        steps={steps}
        bars={bars}
        span={span}
        ticks={ticks}
        narrow={narrow}
        selected={selected}
        onSelect={select}
      />
    </Stack>
  );
}

/** Whether the label of a tick ends before the axis does. */
const fits = (tick: number, length: number, room: number): boolean =>
  (tick / length) * room + tickLabel(tick).length * CHAR_WIDTH <= room + 8;

/** Time since the beginning, in round steps. */
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

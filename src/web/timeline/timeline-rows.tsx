/** The visible rows of the timeline, and keyboard navigation through all of them. */
import { Box } from "@mantine/core";
import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useMemo, useState } from "react";
import * as texts from "#texts/timeline";
import type { RunStep } from "../../../schemas/run.ts";
import type { Bar, TimeRange } from "./bars.ts";
import { TimelineRow } from "./timeline-row.tsx";

const ROW_HEIGHT = 32;
const NARROW_ROW_HEIGHT = 52;
const AXIS_HEIGHT = 22;

interface TimelineRowsProps {
  steps: readonly RunStep[];
  bars: readonly (Bar | null)[];
  span: TimeRange;
  ticks: readonly number[];
  /** Sticky above the rows. */
  axis: ReactNode;
  narrow: boolean;
  /** Width of the axis, in pixels. */
  axisWidth: number;
  progress: ReadonlyMap<string, string>;
  selected: string | undefined;
  onSelect: (id: string) => void;
}

export function TimelineRows({ steps, bars, axis, progress, selected, ...shared }: TimelineRowsProps) {
  const [viewport, setViewport] = useState<HTMLDivElement | null>(null);
  const [focused, setFocused] = useState<string>();
  const activeId = focused ?? selected;
  const active = useMemo(
    () =>
      Math.max(
        0,
        steps.findIndex(({ id }) => id === activeId),
      ),
    [steps, activeId],
  );
  const rowHeight = shared.narrow ? NARROW_ROW_HEIGHT : ROW_HEIGHT;
  // oxlint-disable-next-line react/incompatible-library -- its result is not memoised, and no compiler is used
  const rows = useVirtualizer({
    count: steps.length,
    getScrollElement: () => viewport,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollMargin: AXIS_HEIGHT,
    scrollPaddingStart: AXIS_HEIGHT,
    // Keeps the focused row in the document, so that it keeps the focus.
    rangeExtractor: (range: Range) =>
      [...new Set([...defaultRangeExtractor(range), active])].toSorted((a, b) => a - b),
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const next = steps[targetIndex(event.key, active, steps.length - 1) ?? -1];
    if (next === undefined) return;
    event.preventDefault();
    setFocused(next.id);
    rows.scrollToIndex(steps.indexOf(next));
    // The row is rendered in the next frame.
    requestAnimationFrame(() =>
      viewport?.querySelector<HTMLElement>(`[data-step="${CSS.escape(next.id)}"]`)?.focus(),
    );
  };
  return (
    <Box
      ref={setViewport}
      dir="ltr"
      mah="min(70vh, 560px)"
      style={{ overflowY: "auto", overflowX: "hidden" }}
    >
      <Box pos="sticky" top={0} h={AXIS_HEIGHT} bg="var(--mantine-color-body)" style={{ zIndex: 1 }}>
        {axis}
      </Box>
      <Box
        component="ul"
        m={0}
        p={0}
        pos="relative"
        h={steps.length * rowHeight}
        aria-label={texts.timeline}
        style={{ listStyle: "none" }}
        onKeyDown={onKeyDown}
      >
        {rows.getVirtualItems().map(({ index }) => (
          <Box
            component="li"
            key={steps[index]!.id}
            aria-setsize={steps.length}
            aria-posinset={index + 1}
            pos="absolute"
            w="100%"
            top={index * rowHeight}
            h={rowHeight}
          >
            <TimelineRow
              {...shared}
              step={steps[index]!}
              bar={bars[index]!}
              progress={progress.get(steps[index]!.id)}
              selected={steps[index]!.id === selected}
              focusable={index === active}
              onFocus={setFocused}
            />
          </Box>
        ))}
      </Box>
    </Box>
  );
}

const PAGE = 10;

/** The index that a key moves to; null for other keys. */
function targetIndex(key: string, at: number, last: number): number | null {
  const targets: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + PAGE,
    PageUp: at - PAGE,
    Home: 0,
    End: last,
  };
  const to = targets[key];
  return to === undefined ? null : Math.min(last, Math.max(0, to));
}

/** A step of the timeline: a button with its name and bar, and a tooltip with details. */
import { Box, Group, Text, Tooltip, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { memo } from "react";
import type { RunStep } from "../../../schemas/run.ts";
import { failedLabel } from "../graph/step-label.ts";
import { STATUS_STYLES } from "../ui/status-badge.tsx";
import { formatDuration } from "../ui/duration.ts";
import type { Bar, TimeRange } from "./bars.ts";
import {
  attemptCount,
  barLabel,
  notRunReason,
  itemsLabel,
  rowLabel,
  formatStartOffset,
  activityDuration,
} from "./row-labels.ts";
import css from "./run-timeline.module.css";
import { BarSegments, BarLabel, FailedPart } from "./segments.tsx";

const LABEL_WIDTH = 220;
const BAR_HEIGHT = 14;

interface RowProps {
  step: RunStep;
  bar: Bar | null;
  span: TimeRange;
  ticks: readonly number[];
  narrow: boolean;
  /** How far its approval is that several people decide. */
  progress: string | undefined;
  selected: boolean;
  /** The row that Tab reaches; the arrow keys move to the others. */
  focusable: boolean;
  onSelect: (id: string) => void;
  onFocus: (id: string) => void;
}

export const TimelineRow = memo(function TimelineRow(props: RowProps) {
  const { step, bar, span, narrow, progress, selected, focusable, onSelect, onFocus } = props;
  const { color, Icon } = STATUS_STYLES[step.status];
  return (
    <Tooltip
      multiline
      maw={320}
      fz="xs"
      openDelay={300}
      position="top-end"
      label={<Details step={step} bar={bar} start={span.from} />}
      events={{ hover: true, focus: true, touch: true }}
    >
      <UnstyledButton
        className={css["row"]}
        aria-current={selected ? "true" : undefined}
        tabIndex={focusable ? 0 : -1}
        onClick={() => onSelect(step.id)}
        onFocus={() => onFocus(step.id)}
        data-step={step.id}
        display={narrow ? "block" : "flex"}
        w="100%"
        h="100%"
        px={8}
        style={{ alignItems: "center" }}
      >
        <VisuallyHidden>{rowLabel(step, bar, span.from, progress)}</VisuallyHidden>
        <Group
          component="span"
          aria-hidden
          gap={6}
          wrap="nowrap"
          w={narrow ? "100%" : LABEL_WIDTH}
          h={narrow ? 26 : undefined}
          pr="sm"
          style={{ flexShrink: 0 }}
        >
          <Box
            component="span"
            c={`light-dark(var(--mantine-color-${color}-9), var(--mantine-color-${color}-4))`}
            lh={0}
            className={`status-${color}`}
          >
            <Icon size={15} aria-hidden />
          </Box>
          <Text span size="sm" truncate miw={0}>
            {step.id}
          </Text>
          <Text span size="xs" c="dimmed" style={{ flexShrink: 0 }}>
            {step.type}
          </Text>
        </Group>
        <Track {...props} />
      </UnstyledButton>
    </Tooltip>
  );
});

function Track({ step, bar, span, ticks, narrow, progress }: RowProps) {
  const length = span.to - span.from;
  return (
    <Box component="span" aria-hidden display="block" pos="relative" flex={1} h={narrow ? 22 : "100%"}>
      {ticks.map((tick) => (
        <span key={tick} className={css["tick"]} style={{ left: `${(100 * tick) / length}%` }} />
      ))}
      <Box
        component="span"
        display="block"
        pos="absolute"
        left={0}
        right={0}
        top={`calc(50% - ${BAR_HEIGHT / 2}px)`}
        h={BAR_HEIGHT}
      >
        {bar !== null && <BarSegments bar={bar} span={span} />}
        {bar !== null && <FailedPart bar={bar} span={span} />}
      </Box>
      <BarLabel
        bar={bar}
        span={span}
        label={barLabel(step, bar, progress)}
        failed={failedLabel(step.items)}
      />
    </Box>
  );
}

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

function Details({ step, bar, start }: { step: RunStep; bar: Bar | null; start: number }) {
  const attempts = attemptCount(step);
  const lines = [
    `${step.id} (${step.type}): ${step.status}`,
    notRunReason(step),
    bar === null
      ? "Not started"
      : `Started ${formatStartOffset(bar.from - start)}, ${clock.format(bar.from)}`,
    bar !== null && `${bar.ongoing ? "Elapsed" : "Duration"}: ${formatDuration(bar.to - bar.from)}`,
    bar !== null &&
      activityDuration(bar, "waiting") > 0 &&
      `Waiting: ${formatDuration(activityDuration(bar, "waiting"))}`,
    bar !== null &&
      activityDuration(bar, "backoff") > 0 &&
      `Waiting to retry: ${formatDuration(activityDuration(bar, "backoff"))}`,
    step.waits_until !== undefined && `Waits until ${clock.format(Date.parse(step.waits_until))}`,
    attempts > 1 && `${attempts} attempts`,
    itemsLabel(step),
    step.error !== null && `Failed: ${step.error.message.slice(0, 200)}`,
  ].filter((line) => typeof line === "string");
  return lines.map((line) => <div key={line}>{line}</div>);
}

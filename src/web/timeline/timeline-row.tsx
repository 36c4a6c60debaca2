/** A step of the timeline: a button with its name and bar, and a tooltip with details. */
import { Box, Group, Text, Tooltip, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { memo, useMemo } from "react";
import * as texts from "#texts/timeline";
import type { RunStep } from "../../../schemas/run.ts";
import { locale } from "../locale/locale.ts";
import { STATUS_STYLES, statusLabel } from "../ui/status-badge.tsx";
import { formatDuration } from "../ui/time.tsx";
import type { Bar, TimeRange } from "./bars.ts";
import {
  attemptCount,
  barLabel,
  notRunReason,
  itemsLabel,
  rowLabel,
  startLine,
  activityDuration,
} from "./row-labels.ts";
import { type Mark, marksOf, markTexts } from "./marks.ts";
import css from "./run-timeline.module.css";
import { BarSegments, BarLabel } from "./segments.tsx";

const LABEL_WIDTH = 220;
const BAR_HEIGHT = 14;

interface RowProps {
  step: RunStep;
  bar: Bar | null;
  span: TimeRange;
  ticks: readonly number[];
  narrow: boolean;
  /** Width of the axis, in pixels. */
  axisWidth: number;
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
  const marks = useMemo(() => marksOf(step), [step]);
  return (
    <Tooltip
      multiline
      maw={320}
      fz="xs"
      openDelay={300}
      position="top-end"
      label={<Details step={step} bar={bar} start={span.from} marks={marks} />}
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
        <VisuallyHidden>
          {[rowLabel(step, bar, span.from, progress), ...markTexts(marks, span.from)].join(", ")}
        </VisuallyHidden>
        <Group
          component="span"
          aria-hidden
          gap={6}
          wrap="nowrap"
          w={narrow ? "100%" : LABEL_WIDTH}
          h={narrow ? 26 : undefined}
          pe="sm"
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
        <Track {...props} marks={marks} />
      </UnstyledButton>
    </Tooltip>
  );
});

function Track(props: RowProps & { marks: readonly Mark[] }) {
  const { step, bar, span, ticks, narrow, axisWidth, progress, marks } = props;
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
        {marks.map(({ at, text }) => (
          <span
            key={`${at} ${text}`}
            className={css["mark"]}
            style={{ left: `${(100 * Math.min(Math.max(at - span.from, 0), length)) / length}%` }}
          />
        ))}
      </Box>
      <BarLabel bar={bar} span={span} label={barLabel(step, bar, progress)} axisWidth={axisWidth} />
    </Box>
  );
}

const clock = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });

interface DetailsProps {
  step: RunStep;
  bar: Bar | null;
  start: number;
  marks: readonly Mark[];
}

function Details({ step, bar, start, marks }: DetailsProps) {
  const attempts = attemptCount(step);
  const lines = [
    `${step.id} (${step.type}): ${statusLabel(step.status)}`,
    notRunReason(step),
    ...(bar === null ? [texts.notStartedYet] : barLines(bar, start)),
    step.waits_until !== undefined && texts.waitsUntil({ time: clock.format(Date.parse(step.waits_until)) }),
    attempts > 1 && texts.attempts({ attempts }),
    itemsLabel(step),
    ...markTexts(marks, start),
    step.error !== null && texts.failed({ message: step.error.message.slice(0, 200) }),
  ].filter((line) => typeof line === "string");
  return lines.map((line) => <div key={line}>{line}</div>);
}

function barLines(bar: Bar, start: number): (string | false)[] {
  const duration = formatDuration(bar.to - bar.from);
  const waited = activityDuration(bar, "waiting");
  const backedOff = activityDuration(bar, "backoff");
  return [
    startLine(bar.from - start, clock.format(bar.from)),
    bar.ongoing ? texts.elapsed({ duration }) : texts.duration({ duration }),
    waited > 0 && texts.waited({ duration: formatDuration(waited) }),
    backedOff > 0 && texts.backedOff({ duration: formatDuration(backedOff) }),
  ];
}

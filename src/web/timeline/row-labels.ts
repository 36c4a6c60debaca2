/** The texts of a timeline row: its accessible name, and the label beside its bar. */
import * as texts from "#texts/timeline";
import { status as statusLabel } from "#texts/ui";
import type { RunStep } from "../../../schemas/run.ts";
import { formatNumber } from "../locale/locale.ts";
import { formatDuration } from "../ui/time.tsx";
import type { Bar, Activity } from "./bars.ts";

/** Why the step did not run; null when it ran. */
export const notRunReason = (step: RunStep): string | null =>
  outputOrigin(step) ?? (step.status === "skipped" ? statusLabel({ status: step.status }) : null);

/** Where the output of a step comes from that did not run; null for others. */
function outputOrigin({ reused_from: reused, given }: RunStep): string | null {
  if (given === true) return texts.given;
  if (reused === "cache") return texts.cached;
  return reused === undefined ? null : texts.reusedFrom({ run: reused });
}

/** The duration, or why the step did not run. @param progress how far its approval is that several people decide */
export function barLabel(step: RunStep, bar: Bar | null, progress?: string): string {
  const reason = notRunReason(step);
  if (reason !== null) return reason;
  if (bar === null)
    return step.status === "cancelled" ? statusLabel({ status: step.status }) : texts.notStarted;
  return [formatDuration(bar.to - bar.from), ...(progress === undefined ? [] : [progress])].join(", ");
}

/** The number of attempts, also from the recorded list: the step's own count is 0 between attempts. */
export const attemptCount = ({ attempts, attempt_list: list }: RunStep): number =>
  Math.max(attempts, list?.at(-1)?.attempt ?? 0);

/** The total time that a bar shows for an activity, in milliseconds. */
export const activityDuration = ({ segments }: Bar, activity: Activity): number =>
  segments.reduce(
    (sum, segment) => (segment.activity === activity ? sum + segment.to - segment.from : sum),
    0,
  );

/** "118 of 120 items, 2 failed"; of a loop "iteration 3 of at most 50", then "3 iterations". */
export function itemsLabel({ items, finished_at: finished }: RunStep): string | null {
  if (items === undefined) return null;
  const { total, done, failed, max } = items;
  if (max === undefined)
    return done === total ? texts.items({ total, failed }) : texts.itemsOf({ done, total, failed });
  return finished === null
    ? texts.iterationOf({ iteration: total, max, failed })
    : texts.iterations({ total, failed });
}

/** "revenue, sql, succeeded, 1.2 s, started after 0.3 s, 2 attempts". */
export function rowLabel(step: RunStep, bar: Bar | null, start: number, progress?: string): string {
  const attempts = attemptCount(step);
  const hasRun = notRunReason(step) === null;
  return [
    step.id,
    step.type,
    statusLabel({ status: step.status }),
    outputOrigin(step),
    hasRun && bar !== null ? barDuration(bar) : null,
    bar === null ? texts.notStarted : startLabel(bar.from - start),
    attempts > 1 ? texts.attempts({ attempts }) : null,
    itemsLabel(step),
    progress ?? null,
  ]
    .filter((part) => part !== null)
    .join(", ");
}

function barDuration({ from, to, ongoing }: Bar): string {
  const duration = formatDuration(to - from);
  return ongoing ? texts.soFar({ duration }) : duration;
}

const startLabel = (ms: number): string =>
  isImmediate(ms) ? texts.startedImmediately : texts.startedAfter({ offset: formatOffset(ms) });

/** When something happened in a run, to follow it in parentheses. @param ms since the start of the run */
export const formatStartOffset = (ms: number): string =>
  isImmediate(ms) ? texts.immediately : texts.after({ offset: formatOffset(ms) });

/** When a step started, as a line. @param ms since the start of the run @param time the same as a date */
export const startLine = (ms: number, time: string): string =>
  isImmediate(ms)
    ? texts.startedImmediatelyAt({ time })
    : texts.startedAfterAt({ offset: formatOffset(ms), time });

const isImmediate = (ms: number): boolean => ms < 1;

/** A duration, with more digits than `formatDuration` where it is short. */
const formatOffset = (ms: number): string =>
  ms < 60_000
    ? `${formatNumber(ms / 1_000, { maximumFractionDigits: ms < 100 ? 3 : 1 })} s`
    : formatDuration(ms);

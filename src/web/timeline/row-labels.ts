/** The texts of a timeline row: its accessible name, and the label beside its bar. */
import type { RunStep } from "../../../schemas/run.ts";
import { failedLabel } from "../graph/step-label.ts";
import { formatDuration } from "../ui/duration.ts";
import type { Bar, Activity } from "./bars.ts";

/** Why the step did not run; null when it ran. */
export function notRunReason({ status, reused_from: reused, given }: RunStep): string | null {
  if (given === true) return "given";
  if (reused === "cache") return "cached";
  if (reused !== undefined) return `reused from ${reused}`;
  return status === "skipped" ? "skipped" : null;
}

/**
 * The duration, or why the step did not run; and the number of items, if some of them have failed.
 * @param progress how far its approval is that several people decide
 */
export function barLabel(step: RunStep, bar: Bar | null, progress?: string): string {
  const label = timeLabel(step, bar, progress);
  return failedLabel(step.items) === null ? label : `${label}, ${itemCountLabel(step)}`;
}

function timeLabel(step: RunStep, bar: Bar | null, progress?: string): string {
  const reason = notRunReason(step);
  if (reason !== null) return reason;
  if (bar === null) return step.status === "cancelled" ? "cancelled" : "not started";
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

/** "118 of 120 items, 17 reused, 2 failed". */
export function itemsLabel(step: RunStep): string | null {
  const failed = failedLabel(step.items);
  return failed === null ? itemCountLabel(step) : `${itemCountLabel(step)}, ${failed}`;
}

/** "118 of 120 items, 17 reused"; of a loop "iteration 3 of at most 50", then "3 iterations". */
export function itemCountLabel({ items, finished_at: finished }: RunStep): string | null {
  if (items === undefined) return null;
  const { total, done, reused = 0, max } = items;
  const count =
    max === undefined
      ? pluralize(done === total ? `${total}` : `${done} of ${total}`, total, "item")
      : finished === null
        ? `iteration ${total} of at most ${max}`
        : pluralize(`${total}`, total, "iteration");
  return `${count}${reused > 0 ? `, ${reused} reused` : ""}`;
}

const pluralize = (count: string, total: number, noun: string): string =>
  `${count} ${noun}${total === 1 ? "" : "s"}`;

/** "revenue, sql, succeeded, 1.2 s, started after 0.3 s, 2 attempts". */
export function rowLabel(step: RunStep, bar: Bar | null, start: number, progress?: string): string {
  const attempts = attemptCount(step);
  const started = bar === null ? null : formatStartOffset(bar.from - start);
  const reason = notRunReason(step);
  return [
    step.id,
    step.type,
    step.status,
    reason === "skipped" ? null : reason,
    reason === null && bar !== null
      ? `${formatDuration(bar.to - bar.from)}${bar.ongoing ? " so far" : ""}`
      : null,
    started === null ? "not started" : `started ${started}`,
    attempts > 1 ? `${attempts} attempts` : null,
    itemsLabel(step),
    progress ?? null,
  ]
    .filter((part) => part !== null)
    .join(", ");
}

export function formatStartOffset(ms: number): string {
  if (ms < 1) return "immediately";
  return `after ${ms < 60_000 ? `${Number((ms / 1_000).toFixed(ms < 100 ? 3 : 1))} s` : formatDuration(ms)}`;
}

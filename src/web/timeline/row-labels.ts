/** What a row of the timeline says: its name for who does not see it, and the word beside its bar. */
import type { RunStep } from "../../../schemas/run.ts";
import { formatDuration } from "../ui/time.tsx";
import type { Bar, Activity } from "./bars.ts";

/** "taken from the cache", where the step did not run. */
export function notRunReason({ status, reused_from: reused }: RunStep): string | null {
  if (reused === "cache") return "taken from the cache";
  if (reused !== undefined) return `taken from ${reused}`;
  return status === "skipped" ? "skipped" : null;
}

/** Beside the bar: how long it took, or why it took no time. */
export function barLabel(step: RunStep, bar: Bar | null): string {
  const instead = notRunReason(step);
  if (instead !== null) return instead;
  if (bar === null) return step.status === "cancelled" ? "cancelled" : "not begun";
  return formatDuration(bar.to - bar.from);
}

/** How often it was tried, counted from what is recorded: a step that pauses between attempts has none of its own. */
export const attemptCount = ({ attempts, attempt_list: list }: RunStep): number =>
  Math.max(attempts, list?.at(-1)?.attempt ?? 0);

/** How long a bar's step worked, waited or paused. */
export const activityDuration = ({ segments }: Bar, what: Activity): number =>
  segments.reduce((sum, { activity, from, to }) => (activity === what ? sum + (to - from) : sum), 0);

/** "118 of 120 items, 2 failed". */
export function itemsLabel({ items }: RunStep): string | null {
  if (items === undefined) return null;
  const done = items.done === items.total ? `${items.total}` : `${items.done} of ${items.total}`;
  return `${done} ${items.total === 1 ? "item" : "items"}${items.failed > 0 ? `, ${items.failed} failed` : ""}`;
}

/** "revenue, sql, succeeded, 1.2 s, began 0.3 s after the start, 2 attempts". */
export function rowLabel(step: RunStep, bar: Bar | null, start: number): string {
  const attempts = attemptCount(step);
  const began = bar === null ? null : formatStartOffset(bar.from - start);
  const instead = notRunReason(step);
  return [
    step.id,
    step.type,
    step.status,
    instead === "skipped" ? null : instead,
    instead === null && bar !== null
      ? `${formatDuration(bar.to - bar.from)}${bar.ongoing ? " so far" : ""}`
      : null,
    began === null ? "not begun" : `began ${began}`,
    attempts > 1 ? `${attempts} attempts` : null,
    itemsLabel(step),
  ]
    .filter((part) => part !== null)
    .join(", ");
}

export function formatStartOffset(ms: number): string {
  if (ms < 1) return "with the run";
  return `${ms < 60_000 ? `${Number((ms / 1_000).toFixed(ms < 100 ? 3 : 1))} s` : formatDuration(ms)} after the start`;
}

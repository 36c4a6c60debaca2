/** Says what an entry of the log of a run means, for people. */
import * as texts from "#texts/runs";
import type { RunLogEntry, RunLogKind } from "../../../schemas/run-log.ts";

/** "started again (attempt 2)", "succeeded, 120 items, 2 failed", "approved by ann@example.com". */
export function logSentence({ kind, attempt, by, items }: RunLogEntry): string {
  let event = texts.logKind({ kind });
  if (attempt !== undefined && attempt > 0 && kind !== "step_started")
    event = texts.logAttempt({ event, attempt });
  if (items !== undefined) event = texts.logItems({ event, ...items });
  return by === undefined ? event : texts.logBy({ event, by });
}

/** The colour of an entry, beside its words: red for failures, green for successes. */
export function logColor(kind: RunLogKind): string {
  if (kind === "attempt_interrupted" || kind.endsWith("_failed") || kind === "approval_declined")
    return "red";
  if (kind.endsWith("_succeeded") || kind === "approval_approved") return "green";
  return kind.startsWith("approval_") || kind === "step_waiting" ? "yellow" : "gray";
}

/**
 * Interruptions: attempts of steps with effects that ended without an answer. One is opened in the transaction that ends its
 * attempt, and is settled by a lookup, or by a person who says whether the effect happened.
 */
import type { InterruptionReason } from "../../../schemas/interruption.ts";
import { iso } from "../../core/clock.ts";
import type { InterruptionRecord, PersonalSettlement } from "../../core/interruption-ports.ts";
import type { AbandonedAttempt, RunRecord, StepRef } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import { shortHash } from "../../core/short-hash.ts";
import { stepRefLogFields } from "../../core/step-ref-log-fields.ts";
import type { Applied } from "../../core/transactions.ts";
import { recordInterruption } from "./outgoing-events.ts";
import { newJob, type RunContext } from "./run-context.ts";

/** An attempt that ended without an answer. */
export interface InterruptedAttempt {
  ref: StepRef;
  attempt: number;
  reason: InterruptionReason;
  /** See `AttemptRecord`. */
  effectKey: string;
  startedAt: string;
  /** When it ended (ISO 8601). */
  at: string;
}

/** The id of the interruption of an attempt. */
const interruptionId = ({ runId, stepId, item }: StepRef, attempt: number): string =>
  `int_${shortHash(`${runId} ${stepId} ${item ?? "-"} ${attempt}`)}`;

/** Opens the interruption of an attempt, records the event, and logs it after the commit. An attempt has one at most. */
export async function openInterruption(
  { log }: Pick<RunContext, "log">,
  tx: EngineWriters,
  run: RunRecord,
  { ref: { runId, stepId, item }, attempt, reason, effectKey, startedAt, at }: InterruptedAttempt,
): Promise<void> {
  const ref = { runId, stepId, item };
  const id = interruptionId(ref, attempt);
  const { project, workflowId } = run;
  const opened = await tx.interruptions.open({
    ...ref,
    id,
    project,
    workflowId,
    attempt,
    reason,
    startedAt,
    idempotencyKey: effectKey,
    interruptedAt: at,
  });
  if (!opened) return;
  await recordInterruption(tx, run, { id, ref, attempt, reason, at });
  tx.onCommit(() =>
    log.warn({ ...stepRefLogFields(ref), attempt, reason, interruption_id: id }, "effect interrupted"),
  );
}

/** Opens the interruptions of attempts that were ended from outside, where they have effects that a repetition may double. */
export async function interruptAbandoned(
  context: Pick<RunContext, "log">,
  tx: EngineWriters,
  abandoned: readonly AbandonedAttempt[],
  { reason, at }: Pick<InterruptedAttempt, "reason" | "at">,
): Promise<void> {
  for (const { attempt, startedAt, effectKey, ...ref } of abandoned) {
    const run = effectKey === null ? undefined : await tx.runs.find(ref.runId);
    if (run === undefined || effectKey === null) continue;
    await openInterruption(context, tx, run, { ref, attempt, reason, effectKey, startedAt, at });
  }
}

/**
 * Settles an open interruption. If its step waits for that, its next attempt acts on it. All in one transaction.
 *
 * Locks: the run, until the transaction ends.
 * @returns false when it was settled before; nothing is written then
 */
export async function settleInterruption(
  { clock }: Pick<RunContext, "clock">,
  tx: EngineWriters,
  { id, runId, stepId, item }: Pick<InterruptionRecord, "id" | keyof StepRef>,
  settlement: PersonalSettlement,
): Promise<Applied> {
  const run = (await tx.runs.lock(runId))!;
  if (!(await tx.interruptions.settle(id, { ...settlement, settledAt: iso(clock.now()) }))) return false;
  // Pages that follow the run read it again.
  await tx.runs.update(runId, { seq: run.seq + 1 });
  if (run.finishedAt !== null) return true;
  const ref = { runId, stepId, item };
  const step = await tx.runs.step(ref);
  const isAwaited = (await tx.interruptions.find(id))?.isAsked === true && step?.state === "waiting";
  if (isAwaited) await tx.jobs.add(newJob(ref, "wake", run.priority));
  // An attempt that waits for its lookup, or for a retry, has nothing to send any more.
  else if (settlement.outcome !== "not_happened") await tx.jobs.startAttemptsNow(ref);
  return true;
}

/**
 * Decides, before an attempt sends anything, about an earlier one that ended without an answer: by what a person has said of it, what
 * the lookup of the step finds out, or what `on_interrupted` says.
 */
import type { InterruptionReason } from "../../../schemas/interruption.ts";
import type { AttemptStatus } from "../../../schemas/run.ts";
import { iso } from "../../core/clock.ts";
import type { Connections } from "../../core/connections.ts";
import { encodeJson } from "../../core/encoded-json.ts";
import type { InterruptionReader, InterruptionRecord } from "../../core/interruption-ports.ts";
import { interruptionRuleOf } from "../../core/interruption-rules.ts";
import { distinctCauses } from "../../core/run-causes.ts";
import type { AttemptRecord, Job, RunRecord, StepRef } from "../../core/model.ts";
import type { EngineWriters, RunReader } from "../../core/run-ports.ts";
import { StepError } from "../../core/step-errors.ts";
import { isWaitingStepType } from "../../../schemas/waiting-step-types.ts";
import type { JobContext } from "../../queue/types.ts";
import { emptyOutput } from "../definition/step-value.ts";
import type { PlannedStep } from "../definition/plan.ts";
import { type InterruptedAttempt, openInterruption } from "../run-state/interruptions.ts";
import type { RunContext } from "../run-state/run-context.ts";
import { toRunError } from "../run-state/run-error.ts";
import type { StepResult } from "../run-state/step-result.ts";
import { type Attempt, type FoundOut, idempotencyKeyOf } from "./attempt.ts";
import { retryDelay } from "./retry-delay.ts";
import { runsAgain } from "./runs-again.ts";

/** Whether an attempt of a step can end without an answer, so that nobody knows whether its effect happened. */
export const canBeInterrupted = ({ type, step }: Pick<PlannedStep, "type" | "step">): boolean =>
  type.hasEffects(step) && !isWaitingStepType(type.type);

/**
 * Sets what is to be known if the attempt ends without an answer: the policy, and its idempotency key where sending it again may
 * double its effect. Its input must be resolved.
 */
export function prepareForInterruption(attempt: Attempt, connections: Connections): void {
  const { planned, input } = attempt;
  const rule = interruptionRuleOf(planned.type, { ...planned.step, ...input }, connections);
  // Where nothing says otherwise a step is repeated, but not against a lookup that could not tell.
  attempt.onInterrupted = rule.onInterrupted ?? (planned.lookup === null ? "retry" : "fail");
  const isSafe = rule.idempotent && attempt.onInterrupted === "retry" && planned.lookup === null;
  attempt.effectKey = isSafe ? undefined : idempotencyKeyOf(attempt);
}

/** The interruption that an attempt which did not succeed leaves; undefined where its receiver has answered, or got nothing. */
export function interruptionOf(
  { effectKey, startedAt, codeStartedAt }: Attempt,
  status: AttemptStatus,
  thrown: unknown,
): Pick<InterruptedAttempt, "reason" | "effectKey" | "startedAt"> | undefined {
  if (effectKey === undefined || codeStartedAt === undefined) return undefined;
  const reason = reasonOf(status, thrown);
  return reason && { reason, effectKey, startedAt };
}

function reasonOf(status: AttemptStatus, thrown: unknown): InterruptionReason | undefined {
  if (status === "interrupted") return "executor_ended";
  if (status === "cancelled") return "cancelled";
  if (!(thrown instanceof StepError)) return undefined;
  if (thrown.code === "timeout") return "timeout";
  return thrown.options.unanswered === true ? "connection_lost" : undefined;
}

interface Readers {
  runs: Pick<RunReader, "find" | "lastAttempts">;
  interruptions: InterruptionReader;
}

/** Finds out with the lookup of the step whether an effect happened. @throws what the request throws */
export type LookUp = (
  interruption: InterruptionRecord,
) => Promise<{ happened: false } | { happened: true; output: Record<string, unknown> }>;

export interface AfterInterruption extends Readers {
  context: RunContext;
  /** Left out where the step has no lookup. */
  lookUp: LookUp | undefined;
}

/**
 * Decides what an attempt does about an earlier one without an answer.
 * @returns the result of the step; undefined where the attempt goes on and sends
 * @throws StepError of a lookup that is to be tried again, with the time
 */
export async function afterInterruption(
  options: AfterInterruption,
  attempt: Attempt,
  jobContext: JobContext,
): Promise<StepResult | undefined> {
  const { run, job } = attempt;
  if (job.attempt === 1 && run.retryOf === null) return undefined;
  const interruption = await interruptionBefore(options, attempt, jobContext);
  if (interruption === undefined) return undefined;
  attempt.basis = { interruption: interruption.id, outcome: interruption.outcome };
  const { interruptions, lookUp } = options;
  const isEarlier = interruption.runId !== run.id;
  if (interruption.outcome === "happened") {
    attempt.adopted = interruption.settler;
    return happenedResult(attempt, interruption, await interruptions.output(interruption.id));
  }
  if (interruption.outcome === "not_happened" && (interruption.settledBy !== null || lookUp === undefined))
    return undefined;
  if (interruption.outcome === "unknown") {
    if (!isEarlier) return failed(attempt, interruption);
    // A retry of the run is a decision of its own, but a lookup may know more by now.
    if (lookUp === undefined) return undefined;
  }
  // An open interruption of another effect of an earlier run is settled before the retry, not by it.
  const isSame = interruption.idempotencyKey === idempotencyKeyOf(attempt);
  if (isEarlier && !isSame)
    return attempt.onInterrupted === "retry" ? undefined : failed(attempt, interruption);
  // A request may arrive after the first lookup, so each repetition is preceded by one of its own.
  const found =
    lookUp === undefined
      ? undefined
      : await lookUpOnce({ context: options.context, lookUp }, attempt, interruption, jobContext);
  if (found !== undefined) attempt.found = found;
  if (found?.happened === false) return sendAgain(options, attempt, interruption);
  if (found !== undefined && found.happened !== null)
    return happenedResult(attempt, interruption, found.happened.output);
  switch (attempt.onInterrupted!) {
    case "retry":
      return sendAgain(options, attempt, interruption);
    case "ask":
      return isEarlier || interruption.outcome !== null
        ? failed(attempt, interruption)
        : { kind: "interruption", interruption: interruption.id, inputHash: attempt.inputHash! };
    case "fail":
      return failed(attempt, interruption);
  }
}

/**
 * The effect did not happen. After a crash the step is sent again in any case; after a failure, such as a timeout, as `retry` says.
 * @returns the failure where it is not sent again
 */
async function sendAgain(
  { runs }: Readers,
  { run, job, planned }: Attempt,
  { runId, attempt }: InterruptionRecord,
): Promise<StepResult | undefined> {
  if (runId !== run.id || job.retryCount < attemptsOf(planned)) return undefined;
  const { stepId, item } = job;
  const last = await runs.lastAttempts({ runId, stepId, item }, 3);
  const error = last.find((one) => one.attempt === attempt)?.error ?? null;
  return error === null ? undefined : { kind: "failed", error };
}

/** The number of attempts that `retry` allows. A job that has made all of them finds out what happened, but sends nothing again. */
export const attemptsOf = ({ retry }: Pick<PlannedStep, "retry">): number => retry?.attempts ?? 1;

/** The attempt before the one of a job. An attempt that waited for its lookup has the number of the job. */
async function attemptBefore(
  runs: Pick<RunReader, "lastAttempts">,
  { runId, stepId, item, attempt }: Job,
): Promise<AttemptRecord | undefined> {
  const last = await runs.lastAttempts({ runId, stepId, item }, 2);
  return last.findLast((one) => one.attempt < attempt);
}

/**
 * The interruption that decides about an attempt: of all with its idempotency key one whose effect happened, else an open one, else the
 * newest. Without any, an open one of the same step in the run, or in those that it retries, as far as their effects were not undone.
 */
async function interruptionBefore(
  { context, ...readers }: Readers & Pick<AfterInterruption, "context">,
  attempt: Attempt,
  { record }: JobContext,
): Promise<InterruptionRecord | undefined> {
  const { runs, interruptions } = readers;
  const { run, job, effectRunId = run.id } = attempt;
  const { stepId, item } = job;
  const ref: StepRef = { runId: run.id, stepId, item };
  let own: InterruptionRecord | undefined;
  if (job.attempt > 1) {
    own = await interruptions.latest(ref);
    const last = await attemptBefore(runs, job);
    // A backup was restored with the attempt, or an older copy has ended its record.
    if (last?.status === "interrupted" && last.effectKey !== null && own?.attempt !== last.attempt) {
      const { effectKey, startedAt, finishedAt } = last;
      const lost = { ref, attempt: last.attempt, reason: "executor_ended" as const, effectKey, startedAt };
      await record(async (tx) => {
        await openInterruption(context, tx, run, { ...lost, at: finishedAt ?? startedAt });
      });
      own = await interruptions.latest(ref);
    }
  }
  const ofKey = await interruptions.ofKey(idempotencyKeyOf(attempt));
  // Values that the connections of another project returned stay there.
  const happened = ofKey.find(({ outcome, project }) => outcome === "happened" && project === run.project);
  const same =
    happened ??
    (own?.outcome === null ? own : undefined) ??
    ofKey.findLast(({ outcome }) => outcome === null) ??
    own ??
    ofKey.findLast(({ outcome }) => outcome !== "happened");
  if (same !== undefined) return same;
  const earlier = await earlierInterruption(readers, run, ref, effectRunId);
  return earlier?.outcome === null ? earlier : undefined;
}

/**
 * The newest interruption of a step or item in the runs that a run retries, one after the other.
 * @param first the first of them that counts; left out, all do
 */
async function earlierInterruption(
  { runs, interruptions }: Pick<Readers, "interruptions"> & { runs: Pick<RunReader, "find"> },
  run: Pick<RunRecord, "id" | "retryOf">,
  { stepId, item }: Pick<StepRef, "stepId" | "item">,
  first?: string,
): Promise<InterruptionRecord | undefined> {
  let { id, retryOf } = run;
  while (retryOf !== null && id !== first) {
    id = retryOf;
    const found = await interruptions.latest({ runId: id, stepId, item });
    if (found !== undefined) return found;
    retryOf = (await runs.find(id))?.retryOf ?? null;
  }
  return undefined;
}

/**
 * Asks the lookup.
 * @returns what it found out; `happened` is null if it failed
 * @throws StepError if it is to be tried again, with the time
 */
async function lookUpOnce(
  { context: { clock }, lookUp }: { context: RunContext; lookUp: LookUp },
  { job, planned }: Attempt,
  interruption: InterruptionRecord,
  { signal }: JobContext,
): Promise<FoundOut> {
  const failures = interruption.lookup?.runId === job.runId ? interruption.lookup.failures : 0;
  const base = { interruption: interruption.id, at: iso(clock.now()), error: null, failures };
  try {
    const found = await lookUp(interruption);
    return { ...base, happened: found.happened ? { output: encodeJson(found.output) } : false };
  } catch (thrown) {
    // The executor stops, the run ends, or the machine failed and not the lookup.
    if (signal.aborted || !(thrown instanceof StepError) || runsAgain(thrown, job)) throw thrown;
    const error = toRunError(thrown, job);
    const delay = retryDelay(planned.lookup!.request, { retryCount: failures }, thrown);
    const failure = { ...base, happened: null, error: error.message, failures: failures + 1 };
    if (delay === undefined) return failure;
    throw new LookupFailure(thrown, failure, clock.now() + delay);
  }
}

/** A lookup that is tried again: the job of the step waits until then, under the same number. */
export class LookupFailure extends StepError {
  readonly found: FoundOut;

  constructor({ code, message, options }: StepError, found: FoundOut, waitUntil: number) {
    super(code, `The lookup failed: ${message}`, { ...options, waitUntil });
    this.found = found;
  }
}

/**
 * Saves what the lookup found out, in the transaction of the start or the end of the attempt.
 *
 * Locks: the run, then the interruption, until the transaction ends.
 */
export async function saveFound(tx: EngineWriters, { run, found }: Attempt): Promise<void> {
  if (found === undefined) return;
  await tx.runs.lock(run.id);
  const { interruption, at, happened, error, failures } = found;
  const record = await tx.interruptions.lock(interruption);
  if (record === undefined) return;
  await tx.interruptions.setLookup(interruption, { at, error, failures, runId: run.id });
  const isOpen = record.outcome === null || (record.outcome === "not_happened" && record.settledBy === null);
  if (happened === null || !isOpen) return;
  const outcome = happened === false ? "not_happened" : "happened";
  const output = happened === false ? null : happened.output;
  const settlement = {
    outcome,
    output,
    settledAt: at,
    settledBy: null,
    settler: null,
    comment: null,
  } as const;
  if (!(await tx.interruptions.settle(interruption, settlement))) throw new Error("it is locked and open");
}

/**
 * Whether what an attempt knows of the interruption before it still holds. A person may have settled it meanwhile, and then the
 * attempt must not be sent.
 *
 * Locks: the run, then the interruption, until the transaction ends.
 */
export async function isBasisUnchanged(tx: EngineWriters, { run, basis }: Attempt): Promise<boolean> {
  if (basis === undefined) return true;
  await tx.runs.lock(run.id);
  return (await tx.interruptions.lock(basis.interruption))?.outcome === basis.outcome;
}

/**
 * Records who said what the step returned as a cause of the run that goes on with it, which may not be the interrupted one.
 *
 * Locks: the run, until the transaction ends.
 */
export async function adopt(tx: EngineWriters, { run: { id }, adopted }: Attempt): Promise<void> {
  if (adopted === undefined || adopted === null) return;
  const run = (await tx.runs.lock(id))!;
  await tx.runs.update(id, { seq: run.seq + 1, causes: distinctCauses([...run.causes, adopted]) });
}

/** The error of an attempt that was not sent, because its interruption was settled meanwhile: it starts again at once. */
export const basisChanged = (now: number): StepError =>
  new StepError("step_failed", "The interruption was settled meanwhile. The step acts on that.", {
    waitUntil: now,
  });

/** The step has succeeded: its effect happened. What nobody knows of its output is null. */
function happenedResult(
  { run, planned, inputHash }: Attempt,
  { runId }: InterruptionRecord,
  output: FoundOutput,
): StepResult {
  const known = output === null ? {} : (JSON.parse(output.text) as Record<string, unknown>);
  return {
    kind: "succeeded",
    output: encodeJson({ ...emptyOutput(planned), ...known }),
    inputHash: inputHash!,
    ...(runId !== run.id && { reusedFrom: runId }),
  };
}

type FoundOutput = Awaited<ReturnType<InterruptionReader["output"]>>;

function failed({ job, found }: Attempt, interruption: InterruptionRecord): StepResult {
  const { id, attempt, outcome, settledBy, runId } = interruption;
  const lookupError = found?.error ?? null;
  const place = `The attempt ${attempt} of "${job.stepId}"${job.item === null ? "" : ` (item ${job.item})`}${runId === job.runId ? "" : ` in ${runId}`}`;
  const error = new StepError(
    "interrupted",
    outcome === "unknown"
      ? `${place} ended without an answer, and ${settledBy ?? "a person"} could not find out whether its effect happened.`
      : `${place} ended without an answer, so its effect may have happened.${lookupError === null ? "" : ` The lookup failed: ${lookupError}`}`,
    {
      fix:
        outcome === "unknown"
          ? "retry_run sends it again, so it may happen twice."
          : `Find out whether it happened, and settle ${id} (POST /interruptions/${id}/settle, millrace interruptions settle, or the page of the run). Then retry_run takes its output, or sends it again.`,
      details: { interruption: id },
      transient: false,
    },
  );
  return { kind: "failed", error: toRunError(error, job) };
}

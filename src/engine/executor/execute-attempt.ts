/**
 * Executes one attempt of a step, outside of transactions: evaluates its condition and its fields, reuses a recorded
 * output, and runs the code of its type.
 */
import { canonicalJson } from "../../core/canonical-json.ts";
import { iso } from "../../core/clock.ts";
import type { ConnectionViews } from "../../core/connection-views.ts";
import { encodeJson } from "../../core/encoded-json.ts";
import type { EngineWriters, RunReader } from "../../core/run-ports.ts";
import { shortHash } from "../../core/short-hash.ts";
import { StepError } from "../../core/step-errors.ts";
import type { StepOutcome } from "../../core/step-type.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import type { JobContext } from "../../queue/types.ts";
import { parseInput } from "../definition/parse-input.ts";
import { type Plan, resolveFields } from "../definition/plan.ts";
import { evaluateVariables } from "../definition/repeat.ts";
import type { InterruptionReader } from "../../core/interruption-ports.ts";
import { recordAttemptStart } from "../run-state/record-outcome.ts";
import type { RunContext } from "../run-state/run-context.ts";
import type { StepResult } from "../run-state/step-result.ts";
import { prepareWait } from "../run-state/waits/index.ts";
import type { WaitRequest } from "../run-state/waits/wait-kind.ts";
import type { Attempt } from "./attempt.ts";
import type { Evaluate, Evaluator } from "./evaluator.ts";
import { firstRunWithEffect } from "./first-run-with-effect.ts";
import type { ExpressionScopes } from "./expression-scopes.ts";
import { nextIteration } from "./next-iteration.ts";
import type { PastItems } from "./past-items.ts";
import { cacheKey, type DecisionsHold, recordedOutput } from "./recorded-output.ts";
import {
  afterInterruption,
  basisChanged,
  canBeInterrupted,
  isBasisUnchanged,
  prepareForInterruption,
  saveFound,
} from "./interrupted-effect.ts";
import { createLookUp } from "./lookup.ts";
import { hadThisInput, isReplay, replayedResult, wasStoppedBefore } from "./replay.ts";
import { runStepCode } from "./run-step-code.ts";
import { assertRunsInTrial, givenOutput } from "./trial.ts";
import { countStepMails } from "./held-mail.ts";
import { secretUseRecorder } from "./secret-uses.ts";
import { encodeOutput, toCondition, validateItems } from "./step-values.ts";
import type { UsageLimits } from "./usage-limits.ts";

export interface AttemptOptions {
  context: RunContext;
  runs: RunReader;
  interruptions: InterruptionReader;
  views: ConnectionViews;
  scopes: ExpressionScopes;
  usageLimits: UsageLimits;
  evaluator: Pick<Evaluator, "forJob">;
  /** Prepares the run of another workflow. @throws StepError */
  prepareChildRun: WaitRequest["prepareChildRun"];
  planLevels: WaitRequest["planLevels"];
  decisionsHold: DecisionsHold;
  pastItems: PastItems;
}

/**
 * Executes an attempt, and sets its fields as it proceeds.
 * @returns the result to record
 * @throws StepError, or any other value that the step's code throws
 */
export async function executeAttempt(
  options: AttemptOptions,
  plan: Plan,
  attempt: Attempt,
  jobContext: JobContext,
): Promise<StepResult> {
  const { context, runs, scopes, usageLimits } = options;
  const { run, job, planned } = attempt;
  const evaluate = options.evaluator.forJob(usageSubjectOf(run.actor), jobContext.signal);
  const replays = { ...options, definitionCache: context.definitionCache };
  if (isReplay(run)) {
    if (job.item === null && (await wasStoppedBefore(replays, plan, run, job.stepId)))
      return { kind: "cancelled" };
  } else if (run.isTrial) {
    const given = await givenOutput(scopes, job, planned);
    if (given !== undefined) return given;
  }
  if (job.item === null) {
    const result = await evaluateBeforeFields(options, plan, attempt, evaluate);
    if (result !== undefined) return result;
  }
  await resolveInput(options, plan, attempt, evaluate);
  const position = plan.compiled.position.get(job.stepId)!;
  const resource = plan.compiled.resources[position];
  if (isReplay(run)) {
    if (job.item === null && plan.compiled.graph.needs[position]!.length === 0)
      await resolveAsBefore(options, plan, attempt, {
        evaluate,
        wasSame: () => hadThisInput(replays, run, attempt),
      });
    const replayed = await replayedResult(replays, plan, run, attempt);
    if (replayed !== undefined) return replayed;
  }
  if (run.retryOf !== null) attempt.effectRunId = await firstRunWithEffect(runs, run, job);
  if (planned.type.needsFacts?.(planned.step) === true)
    attempt.facts = (await runs.facts(run.id))?.[job.stepId];
  // At each attempt: what has been revoked meanwhile must not be used any more.
  const { connections, key: view } = await options.views.of(run.project);
  if (planned.cacheMs !== null)
    attempt.cacheKey = cacheKey(attempt, resource === null ? null : connections.targetOf(resource!), view);
  const recorded = await recordedOutput(
    { runs, decisionsHold: options.decisionsHold },
    attempt,
    attempt.inputHash!,
    iso(context.clock.now()),
  );
  if (recorded !== undefined) return recorded;
  if (run.isTrial) assertRunsInTrial(attempt);
  const lookUp =
    planned.lookup === null
      ? undefined
      : createLookUp(options, plan, attempt, { evaluate, connections, jobContext });
  if (!run.isTrial && canBeInterrupted(planned)) {
    prepareForInterruption(attempt, connections);
    const after = await afterInterruption({ ...options, lookUp }, attempt, jobContext);
    if (after !== undefined) return after;
  }
  const metered = planned.type.meteredResource?.(planned.step) ?? null;
  if (metered !== null) await usageLimits.assertRemaining(run, metered);
  if (planned.type.compute === undefined) {
    const recordUses = await secretUseRecorder(context, connections, attempt);
    await recordStart(attempt, jobContext, position, { recordUses, usageLimits, now: context.clock.now() });
  }
  attempt.codeStartedAt = performance.now();
  const outcome = await runStepCode(attempt, { context, connections }, jobContext);
  return toResult(options, attempt, outcome);
}

/** Evaluates the fields. @param run whose times and id they read */
async function resolveInput(
  { scopes }: AttemptOptions,
  plan: Plan,
  attempt: Attempt,
  evaluate: Evaluate,
  run = attempt.run,
): Promise<void> {
  const { job, planned } = attempt;
  const scope = await scopes.loadScope(plan, run, planned.fieldReads, job);
  const fields = await resolveFields(planned, (field) => evaluate(field, scope));
  attempt.input = parseInput(planned, fields);
  attempt.inputJson = encodeJson(attempt.input);
  const resource = plan.compiled.resources[plan.compiled.position.get(job.stepId)!]!;
  attempt.inputHash = shortHash(canonicalJson([planned.type.type, resource, attempt.input]));
}

/**
 * Where several steps are the first ones of a run, chance decides which of them saw when it started, and which when it was created.
 * In a backtest they see the same as in the run of the past.
 */
async function resolveAsBefore(
  options: AttemptOptions,
  plan: Plan,
  attempt: Attempt,
  { evaluate, wasSame }: { evaluate: Evaluate; wasSame(): Promise<boolean> },
): Promise<void> {
  if (await wasSame()) return;
  const { run, startedAt, input, inputJson, inputHash } = attempt;
  const other = { ...run, startedAt: run.startedAt === null ? startedAt : null };
  await resolveInput(options, plan, attempt, evaluate, other);
  if (!(await wasSame())) Object.assign(attempt, { input, inputJson, inputHash });
}

/** Evaluates `if`, `for_each` and `repeat`. @returns undefined when the step runs, once and without items */
async function evaluateBeforeFields(
  options: AttemptOptions,
  plan: Plan,
  attempt: Attempt,
  evaluate: Evaluate,
): Promise<StepResult | undefined> {
  const { runs, scopes } = options;
  const { run, job, planned } = attempt;
  const { step, if: condition, forEach, repeat } = planned;
  if (condition === null && forEach === null && repeat === null) return undefined;
  const record = repeat === null ? undefined : await runs.step(job);
  if (record !== undefined && record.items !== null)
    return nextIteration(options, plan, attempt, record, evaluate);
  const scope = await scopes.loadScope(plan, run, planned.conditionReads);
  if (condition !== null && !toCondition(await evaluate(condition, scope), `if of "${step.id}"`)) {
    return { kind: "skipped" };
  }
  if (repeat !== null) {
    const loop = await evaluateVariables(repeat, "start", (start) => evaluate(start, scope));
    return { kind: "iteration", index: 0, loop, dueAt: null };
  }
  if (forEach === null) return undefined;
  return { kind: "fan_out", items: validateItems(step.id, await evaluate(forEach, scope)) };
}

/**
 * Records that the attempt starts, before its code can have an effect.
 * @throws StepError cancelled when the run is ending or the claim was lost, so that the code must not run; limit_reached when its mail
 * must wait
 */
async function recordStart(
  attempt: Attempt,
  { executor, record }: JobContext,
  position: number,
  {
    recordUses,
    usageLimits,
    now,
  }: { recordUses: (tx: EngineWriters) => Promise<void>; usageLimits: UsageLimits; now: number },
): Promise<void> {
  const { job, startedAt, effectKey } = attempt;
  let held: StepError | undefined;
  const input = attempt.inputJson!;
  attempt.startRecorded = false;
  await record(async (tx) => {
    if (!(await isBasisUnchanged(tx, attempt))) {
      held = basisChanged(now);
      return;
    }
    held = await countStepMails(tx, usageLimits, attempt);
    if (held !== undefined) return;
    const start = { attempt: job.attempt, executor, startedAt, input, effectKey };
    attempt.startRecorded = await recordAttemptStart(tx, job, position, start);
    if (!attempt.startRecorded) return;
    await saveFound(tx, attempt);
    await recordUses(tx);
  }, input.text.length);
  if (held !== undefined) {
    delete attempt.startRecorded;
    throw held;
  }
  if (!attempt.startRecorded) {
    throw new StepError("cancelled", "The run is ending, or another executor has claimed the job.");
  }
}

async function toResult(
  { context, prepareChildRun, planLevels }: AttemptOptions,
  attempt: Attempt,
  outcome: StepOutcome,
): Promise<StepResult> {
  const { run, job, planned, cacheKey: key } = attempt;
  const inputHash = attempt.inputHash!;
  const now = context.clock.now();
  if (outcome.kind !== "done") {
    const { timeoutMs } = planned;
    return prepareWait(outcome, { run, job, inputHash, now, timeoutMs, prepareChildRun, planLevels });
  }
  attempt.usage = outcome.usage;
  if (outcome.rows !== undefined) attempt.rows = outcome.rows + (attempt.rows ?? 0);
  const output = encodeOutput(planned.step.id, outcome.output);
  const { cacheMs } = planned;
  return {
    kind: "succeeded",
    output,
    inputHash,
    // A draft that is tested decides nothing for real runs.
    ...(cacheMs !== null &&
      key !== undefined &&
      run.replay === null && { cache: { key, expiresAt: iso(now + cacheMs) } }),
  };
}

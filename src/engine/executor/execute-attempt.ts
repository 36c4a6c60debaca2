/**
 * Executes one attempt of a step, outside of transactions: evaluates its condition and its fields, reuses a recorded
 * output, and runs the code of its type.
 */
import { z } from "zod";
import { canonicalJson } from "../../core/canonical-json.ts";
import { iso } from "../../core/clock.ts";
import type { Connections } from "../../core/connections.ts";
import { encodeJson } from "../../core/encoded-json.ts";
import { issuesOf } from "../../core/issues.ts";
import type { RunReader } from "../../core/run-ports.ts";
import { shortHash } from "../../core/short-hash.ts";
import { StepError } from "../../core/step-errors.ts";
import type { AnyStepType, Field, StepOutcome } from "../../core/step-type.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import type { JobContext } from "../../queue/types.ts";
import { type Plan, type PlannedStep, resolveFields } from "../definition/plan.ts";
import { evaluateVariables } from "../definition/repeat.ts";
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
import { cacheKey, type DecisionsHold, recordedOutput } from "./recorded-output.ts";
import { runStepCode } from "./run-step-code.ts";
import { encodeOutput, toCondition, validateItems } from "./step-values.ts";
import type { UsageLimits } from "./usage-limits.ts";

export interface AttemptOptions {
  context: RunContext;
  runs: RunReader;
  connections: Connections;
  scopes: ExpressionScopes;
  usageLimits: UsageLimits;
  evaluator: Evaluator;
  /** Prepares the run of another workflow. @throws StepError */
  prepareChildRun: WaitRequest["prepareChildRun"];
  planLevels: WaitRequest["planLevels"];
  decisionsHold: DecisionsHold;
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
  if (job.item === null) {
    const result = await evaluateBeforeFields(options, plan, attempt, evaluate);
    if (result !== undefined) return result;
  }
  const scope = await scopes.loadScope(plan, run, planned.fieldReads, job);
  const fields = await resolveFields(planned, (field) => evaluate(field, scope));
  attempt.input = parseInput(planned, fields);
  attempt.inputJson = encodeJson(attempt.input);
  const position = plan.compiled.position.get(job.stepId)!;
  const resource = plan.compiled.resources[position];
  attempt.inputHash = shortHash(canonicalJson([planned.type.type, resource, attempt.input]));
  if (run.retryOf !== null) attempt.effectRunId = await firstRunWithEffect(runs, run, job);
  if (planned.type.needsFacts?.(planned.step) === true)
    attempt.facts = (await runs.facts(run.id))?.[job.stepId];
  if (planned.cacheMs !== null)
    attempt.cacheKey = cacheKey(attempt, resource === null ? null : options.connections.targetOf(resource!));
  const recorded = await recordedOutput(
    { runs, decisionsHold: options.decisionsHold },
    attempt,
    attempt.inputHash,
    iso(context.clock.now()),
  );
  if (recorded !== undefined) return recorded;
  const metered = planned.type.meteredResource?.(planned.step) ?? null;
  if (metered !== null) await usageLimits.assertRemaining(run.actor, metered);
  if (planned.type.instant !== true) await recordStart(attempt, jobContext, position);
  attempt.codeStartedAt = performance.now();
  const outcome = await runStepCode(attempt, options, jobContext);
  return toResult(options, attempt, outcome);
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

interface InputSchema {
  schema: z.ZodObject;
  /** Names of the fields that null leaves out: they are optional, and null is not a value of theirs. */
  omittedByNull: ReadonlySet<string>;
}

const inputSchemas = new WeakMap<AnyStepType, InputSchema>();

function inputSchema(type: AnyStepType): InputSchema {
  const known = inputSchemas.get(type);
  if (known !== undefined) return known;
  const fields = Object.entries(type.fields as Readonly<Record<string, Field>>);
  const omitted = fields.filter(
    ([, { schema }]) => schema.safeParse(undefined).success && !schema.safeParse(null).success,
  );
  const made: InputSchema = {
    schema: z.object(Object.fromEntries(fields.map(([name, { schema }]) => [name, schema]))),
    omittedByNull: new Set(omitted.map(([name]) => name)),
  };
  inputSchemas.set(type, made);
  return made;
}

/** @throws StepError input_invalid */
export function parseInput(
  { type }: PlannedStep,
  resolved: Record<string, unknown>,
): Record<string, unknown> {
  const { schema, omittedByNull } = inputSchema(type);
  const present = Object.fromEntries(
    Object.entries(resolved).filter(([name, value]) => value !== null || !omittedByNull.has(name)),
  );
  const parsed = schema.safeParse(present, { reportInput: true });
  if (parsed.success) return parsed.data;
  const issues = issuesOf(parsed.error, schema);
  const firstIssues = issues.slice(0, 3).map(({ path, message }) => `${path} ${message}`);
  throw new StepError("input_invalid", `${firstIssues.join("; ")}.`, {
    details: { errors: issues.slice(0, 20) },
  });
}

/**
 * Records that the attempt starts, before its code can have an effect.
 * @throws StepError cancelled when the run is ending or the claim was lost, so that the code must not run
 */
async function recordStart(
  attempt: Attempt,
  { executor, record }: JobContext,
  position: number,
): Promise<void> {
  const { job, startedAt } = attempt;
  const input = attempt.inputJson!;
  attempt.startRecorded = false;
  await record(async (tx) => {
    const start = { attempt: job.attempt, executor, startedAt, input };
    attempt.startRecorded = await recordAttemptStart(tx, job, position, start);
  }, input.text.length);
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
  attempt.rows = outcome.rows;
  const output = encodeOutput(planned.step.id, outcome.output);
  const { cacheMs } = planned;
  return {
    kind: "succeeded",
    output,
    inputHash,
    ...(cacheMs !== null && key !== undefined && { cache: { key, expiresAt: iso(now + cacheMs) } }),
  };
}

/**
 * What the trials of backtests do instead of executing steps: outputs that the run of the past recorded stand in for steps with
 * effects, for waits, and for whatever has the same input as then. Steps that only compute are computed, and steps that only read
 * run if the backtest reads live. Nothing else is executed.
 */
import { canonicalJson } from "../../core/canonical-json.ts";
import { encodeJson } from "../../core/encoded-json.ts";
import { formatShape } from "../../core/format-shape.ts";
import { GIVEN, type Replay, type RunRecord, type StepRecord, type StepRef } from "../../core/model.ts";
import type { RunReader } from "../../core/run-ports.ts";
import { runsInTrial } from "../../core/step-type.ts";
import { StepError } from "../../core/step-errors.ts";
import type { NotComparable } from "../../../schemas/backtest.ts";
import type { RunError } from "../../../schemas/run.ts";
import { isWaitingStepType } from "../../../schemas/waiting-step-types.ts";
import type { CompiledDefinition, DefinitionCache } from "../definition/compiled-definition.ts";
import { ancestorsOf } from "../definition/graph.ts";
import type { Plan, PlannedStep } from "../definition/plan.ts";
import { emptyOutput, givenItem, isForEachItem } from "../definition/step-value.ts";
import type { EndedResult } from "../run-state/step-result.ts";
import type { Attempt } from "./attempt.ts";
import type { ExpressionScopes } from "./expression-scopes.ts";
import { pastInput, type PastItems } from "./past-items.ts";
import { encodeOutput } from "./step-values.ts";

export interface ReplayOptions {
  runs: RunReader;
  definitionCache: DefinitionCache;
  scopes: Pick<ExpressionScopes, "givenFor">;
  pastItems: PastItems;
}

/** The trial of a backtest. */
type ReplayRun = RunRecord & { replay: Replay };

export const isReplay = (run: RunRecord): run is ReplayRun => run.replay !== null;

/** The run of the past, with its definition. */
interface Source {
  run: RunRecord;
  compiled: CompiledDefinition;
}

/** @throws StepError not_given */
async function sourceOf(
  { runs, definitionCache }: Pick<ReplayOptions, "runs" | "definitionCache">,
  { replay }: ReplayRun,
): Promise<Source> {
  const run = await runs.find(replay.runId);
  const compiled = run && (await definitionCache.find(run, runs));
  if (run !== undefined && compiled !== undefined) return { run, compiled };
  throw notComparable("purged", `The run ${replay.runId} is no longer stored with its definition.`);
}

/** Ends the trial, because it can't know what would happen. */
const notComparable = (reason: NotComparable, message: string, fix?: string): StepError =>
  new StepError("not_given", message, { details: { reason }, ...(fix !== undefined && { fix }) });

/** Whether a step of a replay failed because nobody knows what it would do; with a reason, because of that. */
export const isReplayFailure = (
  { code, details }: Pick<RunError, "code" | "details">,
  reason?: NotComparable,
): boolean => code === "not_given" && (reason === undefined || details?.["reason"] === reason);

/**
 * Whether the run of the past failed before it came to a step, by a step that this one does not follow. With which of them it
 * begins is chance, so the trial does not go further than the run did.
 */
export async function wasStoppedBefore(
  options: Pick<ReplayOptions, "runs" | "definitionCache">,
  { compiled }: Plan,
  run: ReplayRun,
  stepId: string,
): Promise<boolean> {
  const source = await sourceOf(options, run);
  const failed = source.run.stepStates.positionsOf("failed");
  const position = source.compiled.position.get(stepId);
  if (failed.length === 0 || position === undefined) return false;
  const state = source.run.stepStates.at(position);
  if (state !== "pending" && state !== "cancelled") return false;
  const before = ancestorsOf(source.compiled.graph, position);
  const beforeNow = ancestorsOf(compiled.graph, compiled.position.get(stepId)!);
  return !failed.some((at) => {
    const now = compiled.position.get(source.compiled.definition.steps[at]!.id);
    return before.has(at) || (now !== undefined && beforeNow.has(now));
  });
}

/**
 * The result of an attempt whose fields are evaluated.
 * @returns undefined where the step is to run
 * @throws StepError not_given, with the reason in its details, where nobody knows what the step would do
 */
export async function replayedResult(
  options: ReplayOptions,
  plan: Plan,
  run: ReplayRun,
  attempt: Attempt,
): Promise<EndedResult | undefined> {
  const { job, planned } = attempt;
  const { type, step } = planned;
  if (type.compute !== undefined) return undefined;
  const source = await sourceOf(options, run);
  const found = await counterpart(options, source, attempt);
  if (found?.isSame === true) return endOf(options, found, attempt);
  if (found === undefined && job.item !== null && wasFanOutStopped(source, job.stepId))
    return { kind: "cancelled" };
  const given = await givenInstead(options, attempt);
  if (given !== undefined) return given;
  const mayRun = runsInTrial(type, { ...step, ...attempt.input }) && !isWaitingStepType(type.type);
  if (mayRun && run.replay.reads === "live") return undefined;
  if (mayRun) throw changedRead(planned, found !== undefined);
  if (found?.record.state === "succeeded") return endOf(options, found, attempt);
  if (found !== undefined && found.record.state !== "skipped") throw failedBefore(planned);
  if (isOutputRead(plan, step.id)) throw newStep(planned);
  return succeeded(attempt, encodeJson(emptyOutput(planned)), GIVEN);
}

/** Whether the step of an attempt had the same input in the run of the past. */
export async function hadThisInput(
  { runs }: Pick<ReplayOptions, "runs">,
  { replay }: ReplayRun,
  attempt: Attempt,
): Promise<boolean> {
  const { stepId, item } = attempt.job;
  const ref: StepRef = { runId: replay.runId, stepId, item };
  const record = await runs.step(ref);
  return record !== undefined && hasSameInput(runs, ref, record, attempt);
}

/** What the run of the past recorded of the same step or item. */
interface Counterpart {
  ref: StepRef;
  record: StepRecord;
  /** Whether its input was the same. */
  isSame: boolean;
}

async function counterpart(
  options: ReplayOptions,
  { run: { id: runId }, compiled }: Source,
  attempt: Attempt,
): Promise<Counterpart | undefined> {
  const { job, planned } = attempt;
  const position = compiled.position.get(job.stepId);
  if (position === undefined) return undefined;
  const { type } = compiled.definition.steps[position]!;
  if (type !== planned.type.type) return undefined;
  const { runs } = options;
  const ref: StepRef = { runId, stepId: job.stepId, item: job.item };
  const record = await runs.step(ref);
  if (record?.items !== undefined && record.items !== null) return undefined;
  if (record !== undefined && (await hasSameInput(runs, ref, record, attempt)))
    return { ref, record, isSame: true };
  if (job.item !== null && planned.forEach !== null) {
    const moved = await options.pastItems.find({ runId, stepId: job.stepId }, attempt);
    if (moved !== undefined) return { ...moved, isSame: true };
  }
  return record && { ref, record, isSame: false };
}

/** Whether a step or item of the past had the input of an attempt. What failed has no hash, but its input is stored. */
async function hasSameInput(
  runs: Pick<RunReader, "valueText">,
  ref: StepRef,
  record: StepRecord,
  { input, inputHash }: Attempt,
): Promise<boolean> {
  if (record.state === "succeeded") return record.inputHash === inputHash;
  if (record.state === "skipped") return false;
  const stored = await pastInput(runs, ref, record);
  return stored !== undefined && canonicalJson(stored) === canonicalJson(input);
}

/** Whether a fan-out ended before all of its items had run. */
function wasFanOutStopped({ run, compiled }: Source, stepId: string): boolean {
  const position = compiled.position.get(stepId);
  if (position === undefined || compiled.definition.steps[position]!.for_each === undefined) return false;
  return ["failed", "cancelled"].includes(run.stepStates.at(position));
}

/** How the step or item ended then. */
async function endOf(
  { runs }: Pick<ReplayOptions, "runs">,
  { ref, record }: Counterpart,
  attempt: Attempt,
): Promise<EndedResult> {
  if (record.state === "succeeded") {
    const output = await runs.outputJson(ref);
    return succeeded(attempt, output ?? encodeJson({}), ref.runId);
  }
  return record.error === null || record.state === "cancelled"
    ? { kind: "cancelled" }
    : { kind: "failed", error: record.error };
}

const succeeded = (
  { inputHash }: Attempt,
  output: Extract<EndedResult, { kind: "succeeded" }>["output"],
  reusedFrom: string,
): EndedResult => ({ kind: "succeeded", output, inputHash: inputHash!, reusedFrom });

/** The output that the backtest was given for the step, with all its fields. */
async function givenInstead(
  { scopes }: Pick<ReplayOptions, "scopes">,
  attempt: Attempt,
): Promise<EndedResult | undefined> {
  const { run, job, planned } = attempt;
  const given = await scopes.givenFor({ runId: run.id, stepId: job.stepId });
  if (given === undefined) return undefined;
  const ofItem =
    job.item === null || isForEachItem(planned.step, given)
      ? given
      : ((given["items"] as Record<string, unknown>[] | undefined)?.[job.item] ?? undefined);
  if (ofItem === undefined) return undefined;
  const { status: _status, error, ...output } = givenItem(planned, ofItem);
  if (error !== null)
    return { kind: "failed", error: { ...(ofItem["error"] as RunError), step_id: job.stepId } };
  return succeeded(attempt, encodeOutput(job.stepId, output), GIVEN);
}

/** Whether anything of the definition reads the output of a step. */
function isOutputRead({ steps, undo, output, commit }: Plan, stepId: string): boolean {
  if (output === null && steps.at(-1)!.step.id === stepId) return true;
  if (output?.stepIds.has(stepId) === true || commit?.stepIds.has(stepId) === true) return true;
  return [...steps, ...undo.values()].some(
    ({ conditionReads, fieldReads, repeat }) =>
      conditionReads.has(stepId) || fieldReads.has(stepId) || repeat?.nextReads.has(stepId) === true,
  );
}

const changedRead = ({ step, type }: PlannedStep, isKnown: boolean): StepError =>
  notComparable(
    "changed_read",
    isKnown
      ? `"${step.id}" (${type.type}) has another input than in the run, and this backtest reads recorded outputs only.`
      : `The run has no output of "${step.id}" (${type.type}), and this backtest reads recorded outputs only.`,
    'Start the backtest with reads: "live", which runs steps that only read; or give its output in given.',
  );

const failedBefore = ({ step, type }: PlannedStep): StepError =>
  notComparable(
    "failed_before",
    `"${step.id}" (${type.type}) did not succeed in the run, and has another input now: what it would return is not known.`,
    `Give its output in given: {"${step.id}": ${formatShape(type.output)}}.`,
  );

const newStep = ({ step, type }: PlannedStep): StepError =>
  notComparable(
    "new_step",
    `The run did not execute "${step.id}" (${type.type}), and its output is read.`,
    `Give its output in given: {"${step.id}": ${formatShape(type.output)}}.`,
  );

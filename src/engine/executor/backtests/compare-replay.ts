/** Compares a run of the past with its replay: how both ended, what they returned, and what others noticed of them. */
import { MAX_NAMES } from "../../../../schemas/backtest-rule.ts";
import type {
  BacktestDifference,
  BacktestEffect,
  BacktestResult,
  NotComparable,
} from "../../../../schemas/backtest.ts";
import type { Difference } from "../../../../schemas/difference.ts";
import type { RunError } from "../../../../schemas/run.ts";
import type { BacktestDetails } from "../../../core/backtest-ports.ts";
import { canonicalJson } from "../../../core/canonical-json.ts";
import { differenceName, fewNames } from "../../../../schemas/difference-names.ts";
import type { RunRecord } from "../../../core/model.ts";
import type { RunReader } from "../../../core/run-ports.ts";
import { toStepStatus } from "../../../core/step-states.ts";
import { undoneStepId } from "../../../core/undo-step-id.ts";
import type { Plan } from "../../definition/plan.ts";
import { isReplayFailure } from "../replay.ts";
import { compareAmounts } from "./compare-amounts.ts";
import { compareEffects, hasSameSource } from "./compare-effects.ts";
import {
  type Execution,
  executionsOf,
  inputOf,
  MAX_CHARS,
  plannedStep,
  type Recorded,
  readRecorded,
} from "./executions.ts";
import { compareValues } from "./show-differences.ts";

/** Maximum length of a message that is shown. */
const MAX_MESSAGE = 300;

export interface Compared {
  result: BacktestResult;
  details: BacktestDetails;
}

interface Options {
  runs: RunReader;
  planOf(run: RunRecord): Promise<Plan>;
}

/**
 * The result of a run that has no replay to compare with.
 * @param name of what differs (schemas/difference-names.ts); null where the run itself is why, which says nothing about the definition
 */
export const notCompared = (
  reason: NotComparable | "refused_inputs",
  message: string,
  { name, fix }: { name: string | null; fix?: string | undefined },
): Compared => ({
  result: reason === "refused_inputs" ? "failing" : "not_comparable",
  details: {
    names: name === null ? [] : [name],
    difference: {
      ...(reason !== "refused_inputs" && { reason }),
      message: message.slice(0, MAX_MESSAGE),
      ...(fix !== undefined && { fix }),
      differences: [],
    },
    effects: [],
    stepMs: { before: 0, after: 0 },
    tokens: { before: 0, after: 0 },
    cost: { before: 0, after: 0 },
  },
});

/** @param replay has ended */
export async function compareReplay(
  { runs, planOf }: Options,
  source: RunRecord,
  replay: RunRecord,
): Promise<Compared> {
  const before = await readRecorded(runs, source, await planOf(source));
  const after = await readRecorded(runs, replay, await planOf(replay));
  const endedAlike = isSameFailure(source.error, replay.error);
  const { effects, names, areUnknown } = await compareEffects(runs, before, after, { endedAlike });
  const amounts = await compareAmounts(runs, before, after);
  const verdict = (result: BacktestResult, difference?: BacktestDifference): Compared => ({
    result,
    details: {
      ...(difference !== undefined && { difference }),
      ...(result !== "equal" && { names: fewNames(names, MAX_NAMES) }),
      effects,
      ...amounts,
    },
  });

  const byChance = stoppedByChance(before, endedAlike);
  const unknown = byChance ?? unknownStep(after) ?? stopped(before, after, { endedAlike, areUnknown });
  if (unknown !== undefined) {
    if (unknown !== byChance && unknown.reason !== "purged") names.push(notComparableName(unknown.reason!));
    return verdict("not_comparable", unknown);
  }
  const outputs = await compareResults(runs, source, replay);
  names.push(...outputs.names, ...namesOfEnd(before, after, endedAlike));
  if (names.length === 0) return verdict("equal");
  const first = await firstDifference(runs, before, after);
  const isFailing = replay.status === "failed" && !endedAlike;
  const message = isFailing
    ? failureMessage(source, replay)
    : (effectMessage(effects) ?? first?.message ?? endMessage(before, after));
  return verdict(isFailing ? "failing" : "different", {
    ...(isFailing && replay.error?.step_id !== undefined
      ? { step: replay.error.step_id, ...(replay.error.item !== undefined && { item: replay.error.item }) }
      : first && { step: first.step, ...(first.item !== undefined && { item: first.item }) }),
    message: message.slice(0, MAX_MESSAGE),
    differences: [...(first?.differences ?? []), ...outputs.shown],
  });
}

/** The name of runs that are not comparable, as differences are named. */
export const notComparableName = (reason: NotComparable | "interrupted"): string =>
  differenceName(["not_comparable", reason]);

/** Whether both failed, and of the same reason. Of several items that fail, which comes first is chance. */
const isSameFailure = (was: RunError | null, is: RunError | null): boolean =>
  was !== null &&
  is !== null &&
  was.code === is.code &&
  was.step_id === is.step_id &&
  (was.item !== is.item || hasFailedUndos(was) || was.message === is.message);

/** Its message names them too. A replay undoes nothing. */
const hasFailedUndos = ({ details }: RunError): boolean => details?.["undo_failed"] !== undefined;

function namesOfEnd(before: Recorded, after: Recorded, endedAlike: boolean): string[] {
  if (after.run.status === "failed" && !endedAlike)
    return [differenceName(["error", after.run.error?.code ?? "unknown"])];
  if (before.run.status !== after.run.status) return ["status"];
  return before.run.status !== "succeeded" && handlerChanged(before, after) ? ["on_failure"] : [];
}

const handlerChanged = ({ plan: was }: Recorded, { plan: is }: Recorded): boolean =>
  was.compiled.definition.on_failure !== is.compiled.definition.on_failure;

/** The first step of the replay that ended it because nobody knows what it would do. */
function unknownStep({ plan, steps }: Recorded): BacktestDifference | undefined {
  for (const { step } of plan.steps) {
    const error = steps.get(step.id)?.error;
    if (error === undefined || error === null || !isReplayFailure(error)) continue;
    return {
      reason: (error.details?.["reason"] ?? "new_step") as NotComparable,
      step: step.id,
      ...(error.item !== undefined && { item: error.item }),
      message: error.message.slice(0, MAX_MESSAGE),
      ...(error.fix !== undefined && { fix: error.fix.slice(0, MAX_MESSAGE) }),
      differences: [],
    };
  }
  return undefined;
}

/** Run errors that say nothing about the definition and the inputs. */
const BY_CHANCE: ReadonlySet<string> = new Set(["run_timeout", "state_conflict", "interrupted", "poisoned"]);

const unknownBecause = (reason: NotComparable, message: string): BacktestDifference => ({
  reason,
  message,
  differences: [],
});

/** Of a run that ended by chance nobody knows what else it would have done; its definition has no part in it. */
function stoppedByChance({ run: { error } }: Recorded, endedAlike: boolean): BacktestDifference | undefined {
  if (error === null || !BY_CHANCE.has(error.code) || endedAlike) return undefined;
  return unknownBecause(
    "stopped",
    `The run ended with ${error.code}, which has nothing to do with its definition.`,
  );
}

function stopped(
  before: Recorded,
  after: Recorded,
  { endedAlike, areUnknown }: { endedAlike: boolean; areUnknown: boolean },
): BacktestDifference | undefined {
  if (endedAlike && undoChanged(before, after))
    return unknownBecause(
      "undo_changed",
      "The run undid steps after its failure, and what undoes them has changed.",
    );
  if (areUnknown)
    return unknownBecause("stopped", "The run failed before steps ended whose definition has changed.");
  // An output that can't be evaluated without these steps is no failure of the definition.
  const hasFailed = after.run.stepStates.anyFailed();
  if (!endedAlike && after.run.stepStates.includes("cancelled") && !hasFailed)
    return unknownBecause("stopped", "The run failed before it came to steps that would run now.");
  return undefined;
}

/** Whether the run undid a step whose undo is another one now, or reads other values. */
const undoChanged = (before: Recorded, after: Recorded): boolean =>
  [...before.steps.keys()].some((id) => {
    const undone = undoneStepId(id);
    if (undone === undefined) return false;
    const [was, is] = [before.plan.undo.get(undone), after.plan.undo.get(undone)];
    if (was === undefined || is === undefined || canonicalJson(was.step) !== canonicalJson(is.step))
      return true;
    return [...is.conditionReads, ...is.fieldReads].some((read) => !hasSameSource(before, after, read));
  });

/** What both returned and committed. */
async function compareResults(
  runs: RunReader,
  source: RunRecord,
  replay: RunRecord,
): Promise<ReturnType<typeof compareValues>> {
  if (source.status !== "succeeded" || replay.status !== "succeeded") return { shown: [], names: [] };
  const outputs = compareValues(["output"], await runs.runOutput(source.id), await runs.runOutput(replay.id));
  const states = compareValues(
    ["committed"],
    await committed(runs, source.id),
    await committed(runs, replay.id),
  );
  return { shown: [...outputs.shown, ...states.shown], names: [...outputs.names, ...states.names] };
}

async function committed(runs: RunReader, runId: string): Promise<unknown> {
  const text = await runs.valueText({ runId, what: "committed" }, { from: 0, chars: MAX_CHARS });
  return text === undefined ? undefined : JSON.parse(text.text);
}

interface StepDifference {
  step: string;
  item?: number;
  message: string;
  differences: Difference[];
}

/** The first step that ended otherwise or had another input, in the order of the definition. */
async function firstDifference(
  runs: RunReader,
  before: Recorded,
  after: Recorded,
): Promise<StepDifference | undefined> {
  for (const { step } of after.plan.steps) {
    const found = await stepDifference(runs, before, after, step.id);
    if (found !== undefined) return found;
  }
  const gone = before.plan.steps.find(({ step }) => plannedStep(after, step.id) === undefined);
  return gone && { step: gone.step.id, message: `"${gone.step.id}" is gone.`, differences: [] };
}

async function stepDifference(
  runs: RunReader,
  before: Recorded,
  after: Recorded,
  id: string,
): Promise<StepDifference | undefined> {
  if (plannedStep(before, id) === undefined) return { step: id, message: `"${id}" is new.`, differences: [] };
  const right = executionsOf(runs, after, id);
  for await (const left of executionsOf(runs, before, id)) {
    const next = await right.next();
    if (next.done === true) return { step: id, message: `"${id}" has fewer executions.`, differences: [] };
    const found = await executionDifference(runs, after, left, next.value);
    if (found !== undefined) return found;
  }
  const more = await right.next();
  return more.done === true
    ? undefined
    : { step: id, message: `"${id}" has more executions.`, differences: [] };
}

async function executionDifference(
  runs: RunReader,
  after: Recorded,
  left: Execution,
  right: Execution,
): Promise<StepDifference | undefined> {
  const { stepId, item } = left.ref;
  const [was, is] = [toStepStatus(left.record.state), toStepStatus(right.record.state)];
  const isSameInput = left.record.inputHash === right.record.inputHash;
  if (was === is && isSameInput) return undefined;
  const place = { step: stepId, ...(item !== null && { item }) };
  if (was !== is)
    return { ...place, message: `"${stepId}" ${was} in the run, and ${is} now.`, differences: [] };
  const path = ["steps", stepId, ...(item === null ? [] : ["items", item])];
  const isComputed = plannedStep(after, stepId)!.type.compute !== undefined;
  const values = isComputed
    ? [await runs.output(left.ref), await runs.output(right.ref)]
    : [await inputOf(runs, left), await inputOf(runs, right)];
  const what = isComputed ? "output" : "input";
  const differences = compareValues([...path, what], values[0], values[1]).shown;
  return { ...place, message: `"${stepId}" has another ${what}.`, differences };
}

const failureMessage = (source: RunRecord, { error }: RunRecord): string =>
  `${source.status === "failed" ? "It fails otherwise" : "It fails"}: ${error?.code} ${error?.message ?? ""}`;

/** What the first step with another effect would do. */
function effectMessage(effects: readonly BacktestEffect[]): string | undefined {
  const effect = effects.find(({ changed, added, removed }) => changed + added + removed > 0);
  if (effect === undefined) return undefined;
  const { step, type, changed, added, removed } = effect;
  const parts = [
    ...(changed > 0 ? [`${changed} changed`] : []),
    ...(added > 0 ? [`${added} added`] : []),
    ...(removed > 0 ? [`${removed} removed`] : []),
  ];
  return `The effects of "${step}" (${type}) differ: ${parts.join(", ")}.`;
}

function endMessage(before: Recorded, after: Recorded): string {
  if (before.run.status !== after.run.status)
    return `The run ${before.run.status}, and the replay ${after.run.status}.`;
  return handlerChanged(before, after)
    ? "on_failure has changed, and the run failed."
    : "The output differs.";
}

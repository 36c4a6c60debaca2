/** Predicts which steps a retry reuses, which it runs, and which of those have effects. */
import { NAMED_ITEMS, type RetryItems } from "../../../schemas/run.ts";
import type { StepDefinition, Definition } from "../../../schemas/workflow-definition.ts";
import type { RetryPlan } from "../../core/engine-port.ts";
import type { InterruptionRecord } from "../../core/interruption-ports.ts";
import type { StepRecord } from "../../core/model.ts";
import type { AnyStepType } from "../../core/step-type.ts";
import { truncate } from "../../core/truncate.ts";
import { undoStepId } from "../../core/undo-step-id.ts";
import { isSameStep, readersOf, referencesOf } from "./references.ts";

interface OriginalRun {
  definition: Definition;
  records: readonly StepRecord[];
}

interface RetryRun {
  definition: Definition;
  inputsChanged: boolean;
  /** Whether it starts in another project, to which its workflow was moved: nothing is reused there. */
  isMoved: boolean;
  /** Ids of the steps whose recorded outputs rest on decisions for other work. */
  outdated: ReadonlySet<string>;
  /** The interruptions of steps that did not succeed, by step. */
  interrupted: ReadonlyMap<string, Pick<InterruptionRecord, "id" | "outcome">>;
  /** The numbers of the items of a fan-out that run, if its list and its inputs are the same; undefined if it has too many. */
  itemsToRun: (step: StepDefinition, record: FanOutRecord) => Promise<readonly number[] | undefined>;
}

/** The record of a step whose items have begun. */
export type FanOutRecord = StepRecord & { items: NonNullable<StepRecord["items"]> };

/**
 * Predicts what a retry does. It reuses a recorded output when the step and its evaluated
 * input are unchanged. So a step runs again unless it succeeded, its definition is unchanged, and it reads nothing that
 * may differ: changed inputs, `run`, `state`, or a step that runs again. A fan-out with the same input runs for those of its
 * items whose outputs the retry doesn't reuse. In another project every step runs again.
 */
export async function planRetry(
  runId: string,
  original: OriginalRun,
  { definition, inputsChanged, isMoved, outdated, interrupted, itemsToRun }: RetryRun,
  stepTypes: readonly AnyStepType[],
): Promise<RetryPlan> {
  const types = new Map(stepTypes.map((type) => [type.type, type]));
  const originalSteps = new Map(original.definition.steps.map((step) => [step.id, step]));
  const records = new Map(original.records.map((record) => [record.stepId, record]));
  const readBy = readersOf(definition.steps);
  const mayDiffer = new Set<string>();
  const rerun = new Set<string>();
  /** Adds a step that runs, and with it those that read its output, or that of one of these. */
  const addRerun = (id: string): void => {
    for (const toAdd = [id]; toAdd.length > 0;) {
      const next = toAdd.pop()!;
      if (rerun.has(next)) continue;
      rerun.add(next);
      for (const reader of readBy.get(next) ?? []) {
        mayDiffer.add(reader);
        toAdd.push(reader);
      }
    }
  };
  const isDone = (step: StepDefinition): boolean =>
    records.get(step.id)?.state === "succeeded" &&
    !records.has(undoStepId(step.id)) &&
    types.get(step.type)?.isReusable?.(step) !== false;
  const fanOutOf = (step: StepDefinition): FanOutRecord | undefined => {
    const record = records.get(step.id);
    return record !== undefined && isFanOut(step, record) ? record : undefined;
  };
  for (const step of definition.steps) {
    const { inputs, run, state } = referencesOf(step);
    const isOther =
      isMoved ||
      outdated.has(step.id) ||
      !isSameStep(originalSteps.get(step.id), step) ||
      run ||
      (definition.state !== undefined && state) ||
      (inputsChanged && inputs);
    if (isOther) mayDiffer.add(step.id);
    if (isOther || (fanOutOf(step) === undefined && !isDone(step))) addRerun(step.id);
  }
  const toRun = new Map<string, readonly number[] | undefined>();
  for (const step of definition.steps) {
    const record = fanOutOf(step);
    if (record === undefined || mayDiffer.has(step.id)) continue;
    const items = await itemsToRun(step, record);
    toRun.set(step.id, items);
    if (items === undefined ? record.items.failed > 0 || !isDone(step) : items.length > 0) addRerun(step.id);
  }
  const outcomeOf = ({ id }: StepDefinition) => interrupted.get(id)?.outcome;
  const plan: RetryPlan = { reused: [], run: [], effects: [], again: [], items: new Map(), issues: [] };
  for (const [index, step] of definition.steps.entries()) {
    const isReused = !rerun.has(step.id) || (outcomeOf(step) === "happened" && !mayDiffer.has(step.id));
    (isReused ? plan.reused : plan.run).push(step.id);
    const numbers = rerun.has(step.id) && !mayDiffer.has(step.id) ? toRun.get(step.id) : undefined;
    const items = numbers && countItems(numbers, records.get(step.id)!.items!.total);
    if (items !== undefined) plan.items.set(step.id, items);
    if (isReused || types.get(step.type)?.hasEffects(step) !== true) continue;
    plan.effects.push(step.id);
    const record = records.get(step.id);
    if (record === undefined || !wasAttempted(record)) continue;
    // Its effects are undone, so running it again repeats none.
    if (isUndone(record, records.get(undoStepId(step.id)))) continue;
    // It ended because of its interruption, and its effect did not happen.
    if (outcomeOf(step) === "not_happened" && record.error?.code === "interrupted") continue;
    plan.again.push(step.id);
    plan.issues.push({
      path: `steps[${index}]`,
      code: "would_run_again",
      message: `"${step.id}" (${step.type}) ${describeOutcome(record)} in ${runId}, and would run ${items === undefined ? "again" : `for ${itemWords(items)}`}`,
      fix: `${howToCheck(interrupted.get(step.id))} Send confirm: true to run ${items === undefined ? "it again" : "these items"}, or remove it with patch.`,
    });
  }
  return plan;
}

/** How to find out whether the effect of a step took place. */
const howToCheck = (interruption: Pick<InterruptionRecord, "id" | "outcome"> | undefined): string =>
  interruption?.outcome === null
    ? `Find out whether its effect took place, and settle ${interruption.id} (POST /interruptions/${interruption.id}/settle): with on_interrupted fail or ask, the retry ends there until then.`
    : "Check whether its effect took place (get_run with this step_id).";

const isFanOut = ({ for_each: forEach }: StepDefinition, record: StepRecord): record is FanOutRecord =>
  forEach !== undefined && record.items !== null;

const countItems = (numbers: readonly number[], total: number): RetryItems => ({
  reused: total - numbers.length,
  run: numbers.length,
  first: numbers.slice(0, NAMED_ITEMS),
});

/** Such as `23 of 40 items: 17, 18, …; the outputs of 17 are reused`. */
export function itemWords({ reused, run, first }: RetryItems): string {
  if (reused === 0) return `all ${run} items`;
  const named = `${first.join(", ")}${run > first.length ? ", …" : ""}`;
  return `${run} of ${reused + run} items: ${named}; the outputs of ${reused} are reused`;
}

const wasAttempted = ({ attempts, items }: StepRecord): boolean => attempts > 0 || (items?.started ?? 0) > 0;

/** Whether every effect of a step was undone: none of its items failed. */
const isUndone = ({ state, items }: StepRecord, undo: StepRecord | undefined): boolean =>
  undo?.state === "succeeded" &&
  (items === null ? state === "succeeded" : items.started === undo.items?.total);

function describeOutcome({ state, attempts, items, error }: StepRecord): string {
  if (items !== null) return `ran for ${items.started} items or iterations (${items.failed} failed)`;
  if (state === "succeeded") return "succeeded";
  const times = attempts === 1 ? "once" : `${attempts} times`;
  return `was attempted ${times}${error === null ? "" : ` (${error.code}: ${truncate(error.message, 200)})`}`;
}

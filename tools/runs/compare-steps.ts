/** Compares the steps of two runs, and the items of their fan-outs. */
import type { RunStep, StepStatus } from "../../schemas/run.ts";
import type { ComparedItem, ComparedStep, ComparedValue, StepOfRun } from "../../schemas/run-comparison.ts";
import type { RunRecord, StepRecord } from "../../src/core/model.ts";
import { toStepStatus } from "../../src/core/step-states.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { callerMask } from "./caller-mask.ts";
import { type Budget, compareGiven, compareRecorded, isDifferent, type Sides } from "./compare-values.ts";
import { listRunSteps } from "./run-steps.ts";

/** Maximum number of items of each fan-out that are compared: the first ones. */
const MAX_ITEMS = 500;
/** Maximum number of differing items of each fan-out that are shown. */
const MAX_SHOWN_ITEMS = 3;

/** The fields of a step or an item that are compared. */
type Values = Pick<ComparedItem, "input" | "error" | "output">;

interface Comparison {
  ctx: ToolContext;
  runs: Sides<RunRecord>;
  budget: Budget;
  mask: ReturnType<typeof callerMask>;
  /** Receives what the answer says beside its fields. */
  notes: string[];
}

/** Milliseconds between two times (ISO 8601); null without either. */
export const durationOf = (startedAt: string | null, finishedAt: string | null): number | null =>
  startedAt === null || finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt);

/** Compares every step of either definition, in order. */
export async function compareSteps(
  ctx: ToolContext,
  runs: Sides<RunRecord>,
  budget: Budget,
  notes: string[],
): Promise<ComparedStep[]> {
  const comparison: Comparison = { ctx, runs, budget, mask: callerMask(ctx), notes };
  const [stepsBefore, stepsAfter, recordsBefore, recordsAfter] = await Promise.all([
    listRunSteps(ctx, runs.before),
    listRunSteps(ctx, runs.after),
    ctx.read.runs.steps(runs.before.id),
    ctx.read.runs.steps(runs.after.id),
  ]);
  const steps = { before: byId(stepsBefore), after: byId(stepsAfter) };
  const records = { before: byStep(recordsBefore), after: byStep(recordsAfter) };
  const compared: ComparedStep[] = [];
  for (const id of mergedIds(stepsBefore, stepsAfter)) {
    const sides = { before: steps.before.get(id), after: steps.after.get(id) };
    const recorded = { before: records.before.get(id), after: records.after.get(id) };
    compared.push(await compareStep(comparison, id, sides, recorded));
  }
  return compared;
}

const byId = (steps: readonly RunStep[]) => new Map(steps.map((step) => [step.id, step]));
const byStep = (records: readonly StepRecord[]) => new Map(records.map((record) => [record.stepId, record]));

/** The ids of the steps after, and each that only the definition before has behind the one that it follows there. */
function mergedIds(before: readonly RunStep[], after: readonly RunStep[]): string[] {
  const known = new Set(after.map(({ id }) => id));
  const following = new Map<string | undefined, string[]>();
  let previous: string | undefined;
  for (const { id } of before) {
    if (known.has(id)) previous = id;
    else following.set(previous, [...(following.get(previous) ?? []), id]);
  }
  return [
    ...(following.get(undefined) ?? []),
    ...after.flatMap(({ id }) => [id, ...(following.get(id) ?? [])]),
  ];
}

async function compareStep(
  comparison: Comparison,
  id: string,
  { before, after }: Sides<RunStep | undefined>,
  records: Sides<StepRecord | undefined>,
): Promise<ComparedStep> {
  const base = {
    id,
    type: (after ?? before)!.type,
    before: before === undefined ? null : sideOf(before),
    after: after === undefined ? null : sideOf(after),
  };
  if (before === undefined || after === undefined) return { ...base, same: false };
  const values = await compareParts(comparison, `steps.${id}`, records);
  const items = await compareItems(comparison, id, records);
  const itemsDiffer =
    items !== undefined && (items.differing > 0 || before.items?.total !== after.items?.total);
  const isSame = before.status === after.status && !areDifferent(values) && !itemsDiffer;
  return { ...base, same: isSame, ...values, ...(items !== undefined && { items }) };
}

const areDifferent = ({ input, error, output }: Values): boolean => [input, error, output].some(isDifferent);

const sideOf = (step: RunStep): StepOfRun => ({
  status: step.status,
  attempts: step.attempts,
  duration_ms: durationOf(step.started_at, step.finished_at),
  ...(step.reused_from !== undefined && { reused_from: step.reused_from }),
  ...(step.given !== undefined && { given: step.given }),
  ...(step.items !== undefined && { items: step.items }),
});

/** Compares the input, the error and the output of a step or an item; those that are equal are left out. */
async function compareParts(
  comparison: Comparison,
  ref: string,
  { before, after }: Sides<StepRecord | undefined>,
): Promise<Values> {
  const input = await compareInputs(comparison, ref, { before, after });
  const error = await compareErrors(comparison, before?.error, after?.error);
  const output =
    before === undefined && after === undefined
      ? undefined
      : await compareRefs(comparison, { before: `${ref}.output`, after: `${ref}.output` });
  return {
    ...(input !== undefined && { input }),
    ...(error !== undefined && { error }),
    ...(output !== undefined && { output }),
  };
}

/** Compares the inputs of the last attempts. A step that was reused or given has none, which is no difference. */
async function compareInputs(
  comparison: Comparison,
  ref: string,
  { before, after }: Sides<StepRecord | undefined>,
): Promise<ComparedValue | undefined> {
  if (!before?.attempts || !after?.attempts) return undefined;
  return compareRefs(comparison, {
    before: `${ref}.attempts.${before.attempts}.input`,
    after: `${ref}.attempts.${after.attempts}.input`,
  });
}

const compareRefs = (
  { ctx, runs, budget }: Comparison,
  refs: Sides<string>,
): Promise<ComparedValue | undefined> =>
  compareRecorded(ctx.read.runs, budget, { before: runs.before.id, after: runs.after.id }, refs);

async function compareErrors(
  { budget, mask }: Pick<Comparison, "budget" | "mask">,
  before: StepRecord["error"] | undefined,
  after: StepRecord["error"] | undefined,
): Promise<ComparedValue | undefined> {
  return compareGiven(budget, {
    before: await mask(before ?? undefined),
    after: await mask(after ?? undefined),
  });
}

async function compareItems(
  comparison: Comparison,
  stepId: string,
  steps: Sides<StepRecord | undefined>,
): Promise<ComparedStep["items"]> {
  const total = Math.max(steps.before?.items?.total ?? 0, steps.after?.items?.total ?? 0);
  if (total === 0) return undefined;
  const { ctx, runs } = comparison;
  const [itemsBefore, itemsAfter] = await Promise.all([
    ctx.read.runs.items({ runId: runs.before.id, stepId }, 0, MAX_ITEMS),
    ctx.read.runs.items({ runId: runs.after.id, stepId }, 0, MAX_ITEMS),
  ]);
  const records = { before: byItem(itemsBefore), after: byItem(itemsAfter) };
  const compared = Math.min(total, MAX_ITEMS);
  if (total > compared) {
    comparison.budget.isComplete = false;
    comparison.notes.push(`Only the first ${compared} of ${total} items of ${stepId} are compared.`);
  }
  const first: ComparedItem[] = [];
  let differing = 0;
  for (let item = 0; item < compared; item += 1) {
    const different = await compareItem(comparison, stepId, item, {
      before: records.before.get(item),
      after: records.after.get(item),
    });
    if (different === undefined) continue;
    differing += 1;
    if (first.length < MAX_SHOWN_ITEMS) first.push(different);
  }
  return { compared, differing, first };
}

const byItem = (records: readonly StepRecord[]) => new Map(records.map((record) => [record.item, record]));

/** @returns undefined if the item is the same in both runs, or has begun in neither */
async function compareItem(
  comparison: Comparison,
  stepId: string,
  item: number,
  records: Sides<StepRecord | undefined>,
): Promise<ComparedItem | undefined> {
  const [before, after] = [statusOf(records.before), statusOf(records.after)];
  if (before === null && after === null) return undefined;
  const values = await compareParts(comparison, `steps.${stepId}.items.${item}`, records);
  if (before === after && !areDifferent(values)) return undefined;
  return { item, before, after, ...values };
}

const statusOf = (record: StepRecord | undefined): StepStatus | null =>
  record === undefined ? null : toStepStatus(record.state);

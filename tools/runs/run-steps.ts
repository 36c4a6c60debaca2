/** The steps of a run in detail. The number of queries does not grow with the number of steps. */
import { type Attempt, LISTED_ATTEMPTS, type RunStep } from "../../schemas/run.ts";
import type { StepDefinition } from "../../schemas/workflow-definition.ts";
import { iso } from "../../src/core/clock.ts";
import { seesEventUrls } from "../../src/core/event-url-mask.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { nearMatch } from "../../src/core/near-match.ts";
import { GIVEN, type RunRecord, type StepRecord, type StepRef } from "../../src/core/model.ts";
import type { ItemReuse } from "../../src/core/run-ports.ts";
import { undoStepId } from "../../src/core/undo-step-id.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { hasStepEnded, type StepState, toStepStatus } from "../../src/core/step-states.ts";
import { itemReuse } from "./item-reuse.ts";
import { truncateError, truncateValue } from "./truncate.ts";

/** Maximum size of an error, in characters. */
const ERROR_CHARS = 2_000;
/** Maximum number of steps with inputs and outputs. Each value takes a query; callers read further steps one by one. */
export const MAX_DETAILED_STEPS = 30;
/** Maximum number of items or iterations that are listed. */
const MAX_ITEMS = 20;

/** Lists every step, without inputs and outputs; then those that undo others, in the order in which they ran. */
export async function listRunSteps(ctx: ToolContext, run: RunRecord): Promise<RunStep[]> {
  const { steps } = await ctx.engine.getDefinition(run);
  // Only a step that has begun, and has not ended, has jobs that wait: of a fan-out no more than its `concurrency`.
  const mayWait = run.stepStates.includes("queued", "running", "waiting");
  // Counting reads every item, so it waits for the end.
  const countsReuse = run.retryOf !== null && run.finishedAt !== null;
  const [records, running, slots, due, reuse, trial] = await Promise.all([
    ctx.read.runs.steps(run.id),
    ctx.read.runs.runningSteps(run.id),
    mayWait ? ctx.read.runs.rateWaits(run.id, ctx.now()) : new Map<string, number>(),
    mayWait ? ctx.read.runs.attemptsDue(run.id) : new Map<string, string>(),
    countsReuse ? itemReuse(ctx, run.id) : new Map<string, ItemReuse>(),
    run.isTrial && steps.some((step) => step.for_each !== undefined) ? ctx.read.runs.trial(run.id) : null,
  ]);
  const byId = new Map(records.map((record) => [record.stepId, record]));
  const claimed = new Set(running.map(({ stepId }) => stepId));
  const listed = steps.map((step, index) => {
    const isClaimed = claimed.has(step.id);
    const startsAt = isClaimed ? undefined : startOf(slots.get(step.id), due.get(step.id));
    const serialized = serializeStep(
      step,
      byId.get(step.id),
      statusOf(run.stepStates.at(index), isClaimed),
      startsAt,
    );
    const { reused = 0 } = reuse.get(step.id) ?? {};
    if (serialized.items !== undefined && reused > 0) serialized.items.reused = reused;
    // The items of a fan-out were given, and not the step.
    if (serialized.items !== undefined && trial !== null && Object.hasOwn(trial.given, step.id))
      serialized.given = true;
    return serialized;
  });
  if (seesEventUrls(ctx.actor.principal.access, run.project))
    for (const [index, step] of steps.entries())
      if (isExpectingEvent(run, step, index))
        listed[index]!.event_url = await ctx.engine.events.url({ runId: run.id, stepId: step.id });
  return [...listed, ...serializeUndoSteps(steps, records, claimed)];
}

/**
 * When a step starts that waits in the queue (ISO 8601).
 * @param slot when its rate lets it start, in milliseconds since 1970
 * @param due when its next attempt is due
 */
const startOf = (slot: number | undefined, due: string | undefined): string | undefined =>
  slot === undefined ? due : iso(slot);

/** The steps of these records that undo others, in the order in which they ran. */
export function serializeUndoSteps(
  steps: readonly StepDefinition[],
  records: readonly StepRecord[],
  claimed: ReadonlySet<string>,
): RunStep[] {
  const undone = new Map(steps.map((step) => [undoStepId(step.id), step]));
  return records
    .filter(({ stepId }) => undone.has(stepId))
    .toSorted((a, b) => (a.startedAt ?? "").localeCompare(b.startedAt ?? ""))
    .map((record) => {
      const { undo } = undone.get(record.stepId)!;
      const step = { id: record.stepId, type: undo?.type ?? "unknown" };
      return serializeStep(step, record, statusOf(record.state, claimed.has(record.stepId)));
    });
}

/** Whether a step waits for an event, or will. */
const isExpectingEvent = (run: RunRecord, { type, event }: StepDefinition, index: number): boolean =>
  type === "wait" &&
  event !== undefined &&
  run.finishedAt === null &&
  !hasStepEnded(run.stepStates.at(index));

/** The status of a step. A step whose job is queued runs only when the job is claimed. */
export const statusOf = (state: StepState, claimed: boolean): RunStep["status"] =>
  state === "queued" && !claimed ? "pending" : toStepStatus(state);

/** Where the output of a step that did not run comes from. */
const sourceOf = (record: StepRecord | undefined): Pick<RunStep, "given" | "reused_from"> =>
  typeof record?.reusedFrom !== "string"
    ? {}
    : record.reusedFrom === GIVEN
      ? { given: true }
      : { reused_from: record.reusedFrom };

/** @param startsAt when its next attempt starts (ISO 8601); undefined if it does not wait for that */
export function serializeStep(
  step: StepDefinition,
  record: StepRecord | undefined,
  status: RunStep["status"],
  startsAt?: string,
): RunStep {
  return {
    id: step.id,
    type: step.type,
    status,
    attempts: record?.attempts ?? 0,
    started_at: record?.startedAt ?? null,
    finished_at: record?.finishedAt ?? null,
    ...sourceOf(record),
    ...(typeof record?.childRun === "string" && { child_run: record.childRun }),
    ...(status === "waiting" && typeof record?.waitUntil === "string" && { waits_until: record.waitUntil }),
    ...(startsAt !== undefined && { waits_until: startsAt }),
    ...(record?.items && {
      items: {
        total: record.items.total,
        done: record.items.done,
        failed: record.items.failed,
        ...(step.repeat !== undefined && { max: step.repeat.max }),
      },
    }),
    error: record?.error ? truncateError(record.error, ERROR_CHARS) : null,
  };
}

/** Smallest preview of a value, in characters. */
const MIN_CHARS = 100;

/**
 * Lists every step; the first `MAX_DETAILED_STEPS` with outputs and attempts.
 * @param maxChars maximum size of a value, in characters of JSON, and `allChars` of all values together
 */
export async function listRunStepsWithValues(
  ctx: ToolContext,
  run: RunRecord,
  { maxChars: most, allChars }: { maxChars: number; allChars: number },
): Promise<RunStep[]> {
  const steps = await listRunSteps(ctx, run);
  const values = steps
    .slice(0, MAX_DETAILED_STEPS)
    .reduce((count, { attempts }) => count + 1 + Math.min(attempts, LISTED_ATTEMPTS), 0);
  const maxChars = Math.max(MIN_CHARS, Math.min(most, Math.floor(allChars / Math.max(1, values))));
  const detailed = steps.slice(0, MAX_DETAILED_STEPS).map(async (step) => {
    const detail = await withValues(ctx, run, step, null, maxChars);
    if (step.items?.max !== undefined)
      detail.item_list = await listItems(ctx, run, step, Math.max(0, step.items.total - MAX_ITEMS));
    return detail;
  });
  return [...(await Promise.all(detailed)), ...steps.slice(MAX_DETAILED_STEPS)];
}

interface StepRequest {
  stepId: string;
  item: number | undefined;
  /** Lists only the items with this status. */
  itemStatus?: "failed" | undefined;
  maxChars: number;
}

/**
 * Returns one step, or one item or iteration of it, with output and attempts.
 * @throws AppError invalid_input when the run has no such step or item
 */
export async function getRunStep(
  ctx: ToolContext,
  run: RunRecord,
  { stepId, item, itemStatus, maxChars }: StepRequest,
): Promise<RunStep> {
  const steps = await listRunSteps(ctx, run);
  const step = steps.find(({ id }) => id === stepId);
  if (step === undefined) throw unknownStepError(stepId, steps);
  const items =
    step.items === undefined ? {} : { item_list: await listItems(ctx, run, step, item ?? 0, itemStatus) };
  if (item === undefined) {
    return { ...(await withValues(ctx, run, step, null, maxChars)), ...items };
  }
  const record = await ctx.read.runs.step({ runId: run.id, stepId, item });
  if (record === undefined) throw unknownItemError(item, step);
  const itemStep = serializeStep({ id: step.id, type: step.type }, record, toStepStatus(record.state));
  return { ...(await withValues(ctx, run, { ...itemStep, item }, item, maxChars)), ...items };
}

/** The items or iterations of a step from one on, all or those with one status, at most `MAX_ITEMS` of them. */
async function listItems(
  ctx: ToolContext,
  run: RunRecord,
  { id, items }: RunStep,
  from: number,
  status?: StepRequest["itemStatus"],
): Promise<NonNullable<RunStep["item_list"]>> {
  const ref = { runId: run.id, stepId: id };
  const { runs } = ctx.read;
  const records =
    status === undefined
      ? await runs.items(ref, from, MAX_ITEMS)
      : items?.failed === 0
        ? []
        : await runs.failedItems(ref, from, MAX_ITEMS);
  return records.map((record) => ({
    item: record.item!,
    status: toStepStatus(record.state),
    attempts: record.attempts,
    started_at: record.startedAt,
    finished_at: record.finishedAt,
    error: record.error === null ? null : truncateError(record.error, ERROR_CHARS / MAX_ITEMS),
  }));
}

const attemptInput = (ref: StepRef, attempt: number) => ({ ...ref, what: "attempt_input", attempt }) as const;

async function withValues(
  ctx: ToolContext,
  run: RunRecord,
  step: RunStep,
  item: number | null,
  maxChars: number,
): Promise<RunStep> {
  const stepRef = { runId: run.id, stepId: step.id, item };
  const base = `steps.${step.id}${item === null ? "" : `.items.${item}`}`;
  const output = await truncateValue(
    ctx.read.runs,
    { ...stepRef, what: "step_output" },
    `${base}.output`,
    maxChars,
  );
  const attempts = await ctx.read.runs.lastAttempts(stepRef, LISTED_ATTEMPTS);
  const list = attempts.map(async (record): Promise<Attempt> => {
    const { attempt } = record;
    const ref = `${base}.attempts.${attempt}.input`;
    const input = await truncateValue(ctx.read.runs, attemptInput(stepRef, attempt), ref, maxChars);
    const summary: Attempt = {
      attempt,
      status: record.status,
      started_at: record.startedAt,
      finished_at: record.finishedAt,
      usage: record.usage,
      error: record.error === null ? null : truncateError(record.error, ERROR_CHARS),
    };
    return input === undefined ? summary : Object.assign(summary, { input });
  });
  return { ...step, ...(output !== undefined && { output }), attempt_list: await Promise.all(list) };
}

function unknownStepError(stepId: string, steps: readonly RunStep[]) {
  const allowed = steps.slice(0, 100).map(({ id }) => id);
  const near = nearMatch(
    stepId,
    steps.map(({ id }) => id),
  );
  return invalidInput([
    {
      path: "step_id",
      code: "unknown_step",
      message: "is not a step of this run",
      allowed,
      ...(near !== undefined && { did_you_mean: near, fix: `Write ${near}.` }),
    },
  ]);
}

const unknownItemError = (item: number, { id, items }: RunStep) =>
  invalidInput([
    {
      path: "item",
      code: "not_found",
      message:
        items === undefined
          ? `is not allowed: "${id}" has no for_each and no repeat`
          : `${item} has not run: "${id}" has ${items.total} ${items.max === undefined ? "items" : "iterations"}, numbered from 0`,
      fix: "Leave item out to list those that have run.",
    },
  ]);

/** The steps of a run in detail. However many there are, they are read in a few queries. */
import type { Attempt, RunStep } from "../../schemas/run.ts";
import type { StepDefinition } from "../../schemas/workflow-definition.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { nearMatch } from "../../src/core/near-match.ts";
import {
  type AttemptRecord,
  type RunRecord,
  type StepRecord,
  type StepRef,
} from "../../src/core/run-ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { type StepState, toStepStatus } from "../../src/core/step-states.ts";
import { truncateError, truncateValue } from "./truncate.ts";

const ERROR_CHARS = 2_000;
/** So many steps are shown with what they took and gave, each value a query; the others are asked for one by one. */
export const MAX_DETAILED_STEPS = 30;
const MOST_ATTEMPTS = 20;
const MOST_ITEMS = 20;

/** Every step, without what it took and gave. */
export async function listRunSteps(ctx: ToolContext, run: RunRecord): Promise<RunStep[]> {
  const { steps } = await ctx.engine.getDefinition(run);
  const [records, running] = await Promise.all([
    ctx.read.runs.steps(run.id),
    ctx.read.runs.runningSteps(run.id),
  ]);
  const byId = new Map(records.map((record) => [record.stepId, record]));
  const claimed = new Set(running.map(({ stepId }) => stepId));
  return steps.map((step, index) =>
    serializeStep(step, byId.get(step.id), statusOf(run.stepStates.at(index), claimed.has(step.id))),
  );
}

/** What has a job of its own runs only once that is claimed. */
export const statusOf = (state: StepState, claimed: boolean): RunStep["status"] =>
  state === "queued" && !claimed ? "pending" : toStepStatus(state);

export function serializeStep(
  step: StepDefinition,
  record: StepRecord | undefined,
  status: RunStep["status"],
): RunStep {
  return {
    id: step.id,
    type: step.type,
    status,
    attempts: record?.attempts ?? 0,
    started_at: record?.startedAt ?? null,
    finished_at: record?.finishedAt ?? null,
    ...(typeof record?.reusedFrom === "string" && { reused_from: record.reusedFrom }),
    ...(typeof record?.childRun === "string" && { child_run: record.childRun }),
    ...(status === "waiting" && typeof record?.waitUntil === "string" && { waits_until: record.waitUntil }),
    ...(record?.items && {
      items: { total: record.items.total, done: record.items.done, failed: record.items.failed },
    }),
    error: record?.error ? truncateError(record.error, ERROR_CHARS) : null,
  };
}

/** The first steps with their outputs and attempts, the rest without. */
export async function listRunStepsWithValues(
  ctx: ToolContext,
  run: RunRecord,
  maxChars: number,
): Promise<RunStep[]> {
  const steps = await listRunSteps(ctx, run);
  const attempts = await ctx.read.runs.attempts(run.id, undefined, null);
  const byStep = Map.groupBy(attempts, ({ stepId }) => stepId);
  const whole = steps
    .slice(0, MAX_DETAILED_STEPS)
    .map((step) => withValues(ctx, run, step, null, byStep.get(step.id) ?? [], maxChars));
  return [...(await Promise.all(whole)), ...steps.slice(MAX_DETAILED_STEPS)];
}

/**
 * One step, or one item of its fan-out, with all that is recorded.
 * @throws AppError invalid_input where the run has no such step or item
 */
export async function getRunStep(
  ctx: ToolContext,
  run: RunRecord,
  { stepId, item, maxChars }: { stepId: string; item: number | undefined; maxChars: number },
): Promise<RunStep> {
  const steps = await listRunSteps(ctx, run);
  const step = steps.find(({ id }) => id === stepId);
  if (step === undefined) throw noStep(stepId, steps);
  const listed =
    step.items === undefined
      ? []
      : await ctx.read.runs.items({ runId: run.id, stepId }, item ?? 0, MOST_ITEMS);
  const items = {
    ...(step.items !== undefined && {
      item_list: listed.map((record) => ({
        item: record.item!,
        status: toStepStatus(record.state),
        attempts: record.attempts,
        error: record.error === null ? null : truncateError(record.error, ERROR_CHARS / MOST_ITEMS),
      })),
    }),
  };
  if (item === undefined) {
    const attempts = await ctx.read.runs.attempts(run.id, stepId, null);
    return { ...(await withValues(ctx, run, step, null, attempts, maxChars)), ...items };
  }
  const [record] = listed;
  if (record?.item !== item) throw noItem(item, step);
  const attempts = await ctx.read.runs.attempts(run.id, stepId, item);
  const shown = serializeStep({ id: step.id, type: step.type }, record, toStepStatus(record.state));
  return { ...(await withValues(ctx, run, { ...shown, item }, item, attempts, maxChars)), ...items };
}

const attemptAt = (unit: StepRef, attempt: number) => ({ ...unit, what: "attempt_input", attempt }) as const;

async function withValues(
  ctx: ToolContext,
  run: RunRecord,
  step: RunStep,
  item: number | null,
  attempts: readonly AttemptRecord[],
  maxChars: number,
): Promise<RunStep> {
  const unit = { runId: run.id, stepId: step.id, item };
  const base = `steps.${step.id}${item === null ? "" : `.items.${item}`}`;
  const output = await truncateValue(
    ctx.read.runs,
    { ...unit, what: "step_output" },
    `${base}.output`,
    maxChars,
  );
  const list = attempts.slice(-MOST_ATTEMPTS).map(async (record): Promise<Attempt> => {
    const { attempt } = record;
    const ref = `${base}.attempts.${attempt}.input`;
    const input = await truncateValue(ctx.read.runs, attemptAt(unit, attempt), ref, maxChars);
    const shown: Attempt = {
      attempt,
      status: record.status,
      started_at: record.startedAt,
      finished_at: record.finishedAt,
      usage: record.usage,
      error: record.error === null ? null : truncateError(record.error, ERROR_CHARS),
    };
    return input === undefined ? shown : Object.assign(shown, { input });
  });
  return { ...step, ...(output !== undefined && { output }), attempt_list: await Promise.all(list) };
}

function noStep(stepId: string, steps: readonly RunStep[]) {
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

const noItem = (item: number, { id, items }: RunStep) =>
  invalidInput([
    {
      path: "item",
      code: "not_found",
      message:
        items === undefined
          ? `can't be given: "${id}" has no for_each`
          : `${item} has not run: "${id}" has ${items.total} items, counted from 0`,
      fix: "Leave item out to see those that have.",
    },
  ]);

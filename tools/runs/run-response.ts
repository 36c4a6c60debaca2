/** A run as it is told: short by default, and with what to do next. A failure fits into 1,000 tokens. */
import type { z } from "zod";
import { FINAL_STATUSES, type Run, type RunSummary } from "../../schemas/run.ts";
import type { ApprovalRecord, RunRecord } from "../../src/core/run-ports.ts";
import { hasStepEnded, type StepState } from "../../src/core/step-states.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { truncateText, truncateError, truncateValue, isTruncated } from "./truncate.ts";
import { earliestWaitEnd } from "./earliest-wait-end.ts";

/** The parts of a failure's card, in characters: together under 4,000. */
const ERROR_CHARS = 1_600;
const INPUT_CHARS = 700;
const INPUTS_CHARS = 300;
const LISTED_ERROR_CHARS = 400;
const MOST_CURRENT = 10;
const MOST_APPROVALS = 5;
const MESSAGE_CHARS = 300;

const UNDER_WAY: ReadonlySet<StepState> = new Set(["queued", "running", "waiting"]);

const noun = (run: RunRecord) => ({
  id: run.id,
  workflow_id: run.workflowId,
  version: run.version,
  status: run.status,
  trigger: run.trigger,
  created_at: run.createdAt,
  started_at: run.startedAt,
  finished_at: run.finishedAt,
  ...(run.retryOf !== null && { retry_of: run.retryOf }),
  ...(run.parent !== null && { parent_run: run.parent.runId }),
  ...(run.scheduledFor !== null && { scheduled_for: run.scheduledFor }),
});

/** A run in a list. */
export const toRunSummary = (run: RunRecord): z.input<typeof RunSummary> => {
  const { details: _, ...error } = run.error === null ? {} : truncateError(run.error, LISTED_ERROR_CHARS);
  return { ...noun(run), error: run.error === null ? null : (error as Run["error"]) };
};

/**
 * The run by itself.
 * @param maxChars as long may its output be (characters of JSON) before it is cut
 */
export async function buildRunResponse(ctx: ToolContext, run: RunRecord, maxChars: number): Promise<Run> {
  const { owner, keyName, surface, client } = run.actor;
  const usage = await ctx.read.runs.usage(run.id);
  const card: Run = {
    ...noun(run),
    started_by: { owner, key_name: keyName, surface, client },
    ...(run.definition !== null && { patched: true }),
    inputs: await truncateValue(
      ctx.read.runs,
      { runId: run.id, what: "inputs" },
      "inputs",
      Math.min(INPUTS_CHARS, maxChars),
    ),
    ...(usage !== null && { usage }),
    error: run.error === null ? null : truncateError(run.error, ERROR_CHARS),
  };
  if (run.status === "succeeded") return succeeded(ctx, card, maxChars);
  if (run.status === "failed") return failed(ctx, run, card);
  if (run.status === "cancelled")
    return { ...card, next: `It was cancelled${by(run)}. ${retryWith(run.id)}` };
  return underWay(ctx, run, card);
}

const by = ({ stop }: RunRecord): string => (stop?.status === "cancelled" ? ` by ${stop.by}` : "");

async function succeeded(ctx: ToolContext, card: Run, maxChars: number): Promise<Run> {
  const at = { runId: card.id, what: "output" } as const;
  const output = (await truncateValue(ctx.read.runs, at, "output", maxChars)) ?? null;
  if (!isTruncated(output)) return { ...card, output };
  const next = `The output is cut. get_run_value with ref "output" (GET /runs/${card.id}/values/output) gives the whole.`;
  return { ...card, output, next };
}

const retryWith = (id: string): string =>
  `retry_run (POST /runs/${id}/retry) starts a new run that reuses what succeeded; with patch it follows a changed definition.`;

async function failed(ctx: ToolContext, run: RunRecord, card: Run): Promise<Run> {
  const { step_id: stepId, item } = run.error ?? {};
  if (stepId === undefined) return { ...card, next: `Mend the cause. ${retryWith(run.id)}` };
  const unit = { runId: run.id, stepId, item: item ?? null };
  const [record, definition] = await Promise.all([ctx.read.runs.step(unit), ctx.engine.getDefinition(run)]);
  const attempts = record?.attempts ?? 0;
  const part = item === undefined ? "" : `.items.${item}`;
  const ref = `steps.${stepId}${part}.attempts.${attempts}.input`;
  const at = { ...unit, what: "attempt_input", attempt: attempts } as const;
  const input = attempts === 0 ? undefined : await truncateValue(ctx.read.runs, at, ref, INPUT_CHARS);
  return {
    ...card,
    failed_step: {
      id: stepId,
      ...(item !== undefined && { item }),
      type: definition.steps.find((step) => step.id === stepId)?.type ?? "unknown",
      attempts,
      ...(input !== undefined && { input }),
    },
    next: `Mend the cause. ${retryWith(run.id)} get_run with step_id "${stepId}" shows its attempts.`,
  };
}

/** How far a run is. */
export function progressOf(
  { stepStates }: Pick<RunRecord, "stepStates">,
  steps: readonly { id: string }[],
): { total: number; done: number; current: string[] } {
  const current = steps.filter((_, index) => UNDER_WAY.has(stepStates.at(index))).map(({ id }) => id);
  return {
    total: steps.length,
    done: stepStates.list.filter(hasStepEnded).length,
    current: current.slice(0, MOST_CURRENT),
  };
}

async function underWay(ctx: ToolContext, run: RunRecord, card: Run): Promise<Run> {
  const { steps } = await ctx.engine.getDefinition(run);
  const { items } = await ctx.read.approvals.page({
    filter: { runId: run.id, status: "pending" },
    after: null,
    limit: MOST_APPROVALS,
  });
  return {
    ...card,
    progress: progressOf(run, steps),
    ...(items.length > 0 && {
      approvals: items.map(({ id, stepId, message }) => ({
        id,
        step_id: stepId,
        message: truncateText(message, MESSAGE_CHARS),
      })),
    }),
    next: await whatNow(ctx, run, items[0]),
  };
}

async function whatNow(
  ctx: ToolContext,
  run: RunRecord,
  approval: ApprovalRecord | undefined,
): Promise<string> {
  const again = `Ask again with get_run (GET /runs/${run.id}); cancel_run stops it.`;
  if (run.stop !== null) return `It is being stopped. ${again}`;
  if (approval !== undefined) {
    return `It waits for a person: decide_approval (POST /approvals/${approval.id}), not by who started it unless the operator allows that. ${again}`;
  }
  if (!run.admitted)
    return `It waits for its turn: the workflow bounds how many of its runs go on together. ${again}`;
  if (run.status === "waiting") {
    const until = await earliestWaitEnd(ctx.read.runs, run.id);
    return `It waits${until === undefined ? "" : ` until ${until}`}, and then goes on by itself. ${again}`;
  }
  if (run.status === "queued" && (await ctx.read.jobs.executors()).length === 0) {
    return `It is accepted, but no executor is running to carry it out: the operator starts one (millrace worker). ${again}`;
  }
  return `It goes on by itself. ${again}`;
}

/** Whether a run stays as it is for good. */
export const hasEnded = ({ status }: Pick<RunRecord, "status">): boolean => FINAL_STATUSES.has(status);

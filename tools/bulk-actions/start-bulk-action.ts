import { z } from "zod";
import {
  BulkAction,
  BulkActionId,
  BulkActionKind,
  BulkConcurrency,
  DEFAULT_BULK_CONCURRENCY,
} from "../../schemas/bulk-action.ts";
import { Rate } from "../../schemas/field-values.ts";
import { WaitSeconds } from "../../schemas/run.ts";
import { shortSchemas } from "../../schemas/short-schemas.ts";
import { text } from "../../schemas/text.ts";
import { IdempotencyKey, Reason, Version } from "../../schemas/workflow.ts";
import type { BulkActionRecord } from "../../src/core/bulk-action-ports.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { newBulkActionId } from "../../src/core/ids.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { usageSubjectOf } from "../../src/core/usage-limits.ts";
import { runActor } from "../runs/run-actor.ts";
import { resolveWaitSeconds } from "../runs/wait-for-run.ts";
import { chooseRuns, chosenRuns } from "./chosen-runs.ts";
import { planBulkAction, type PlannedAction } from "./plan-bulk-action.ts";
import { findBulkAction, toBulkAction, toPreview } from "./serialize-bulk-action.ts";
import { waitForBulkAction } from "./wait-for-bulk-action.ts";

/** Maximum number of bulk actions of an owner that run at a time. */
const MAX_RUNNING = 3;

const Input = z.strictObject({
  action: BulkActionKind.optional().register(shortSchemas, {
    enum: BulkActionKind.options,
    description: "What happens with the runs.",
  }),
  ...chosenRuns,
  version: Version.optional().meta({
    description: "Retries run this version. Default: that of each run.",
    example: 4,
  }),
  rate: Rate.optional().meta({ description: "Maximum speed, such as 60/m.", example: "60/m" }),
  concurrency: BulkConcurrency.register(shortSchemas, {
    type: "integer",
    default: DEFAULT_BULK_CONCURRENCY,
    description: "Unfinished retries at a time.",
  }),
  reason: Reason.optional().meta({ description: "Kept with it.", example: "The bank was down." }),
  digest: text(100, 1).optional().meta({
    description:
      "That of the preview: starts it. Without it, the answer is a preview, and nothing is started.",
    example: "b3JkZXItNDA",
  }),
  bulk_action_id: BulkActionId.optional().meta({
    description: "Starts none: waits for this one.",
    example: "blk_8dkq2m0sfj3a",
  }),
  wait: WaitSeconds.optional(),
  idempotency_key: IdempotencyKey.optional(),
});
type Input = z.output<typeof Input>;

export const startBulkAction = defineTool({
  name: "start_bulk_action",
  title: "Retry or cancel many runs",
  description:
    "Retries or cancels the runs of a filter. Without digest it is a preview: how many, what is reused, which effects happen again. " +
    "With the digest of the preview it starts exactly that. Runs that were retried are skipped.",
  route: "POST /bulk-actions",
  scope: "run",
  effect: "act",
  readsValues: true,
  openWorld: true,
  errors: [
    "workflow_not_found",
    "project_not_found",
    "run_not_found",
    "bulk_action_not_found",
    "bulk_action_changed",
    "too_many_bulk_actions",
    "too_many_runs",
    "storage_limit_reached",
    "storage_full",
    "idempotency_key_reused",
  ],
  headers: { idempotency_key: "Idempotency-Key" },
  input: Input,
  output: BulkAction,
  pollLocation: ({ id, status }) => (status === "running" ? `/bulk-actions/${id}` : undefined),
  async run(input, ctx) {
    if (input.bulk_action_id !== undefined) assertStartsNone(input);
    if (input.bulk_action_id === undefined && input.digest === undefined)
      return toPreview(ctx, (await plannedAction(ctx, input)).record);
    const id = input.bulk_action_id ?? (await startAction(ctx, input));
    const found = await findBulkAction(ctx.read, id);
    await waitForBulkAction(ctx, found, resolveWaitSeconds(ctx, input.wait));
    return toBulkAction(ctx, await findBulkAction(ctx.read, id), ctx.read);
  },
});

const OF_START = [
  "action",
  ...(Object.keys(chosenRuns) as (keyof typeof chosenRuns)[]),
  "version",
  "rate",
  "reason",
  "digest",
] as const satisfies (keyof Input)[];

/** @throws AppError invalid_input */
function assertStartsNone(input: Input): void {
  const others = OF_START.filter((name) => input[name] !== undefined);
  if (others.length === 0) return;
  throw invalidInput(
    others.map((path) => ({
      path,
      code: "not_allowed",
      message: "can't be combined with bulk_action_id, which starts no bulk action",
      fix: "Leave it out to wait for that bulk action, or leave out bulk_action_id to start another one.",
    })),
  );
}

/** A bulk action as it would be stored, with its runs. */
interface Planned {
  record: BulkActionRecord;
  runs: PlannedAction["runs"];
}

/** @throws AppError invalid_input, workflow_not_found, project_not_found, run_not_found, too_many_runs, storage_full */
async function plannedAction(ctx: ToolContext, input: Input): Promise<Planned> {
  const { action } = input;
  if (action === undefined)
    throw invalidInput([
      {
        path: "action",
        code: "required",
        message: "is required",
        allowed: BulkActionKind.options,
        fix: 'Send action: "retry" or "cancel"; or bulk_action_id, to wait for one.',
      },
    ]);
  assertFitsAction(input);
  const { runs: chosen, more } = await chooseRuns(ctx, { ...input, action });
  const { runs, groups, skipped, digest } = await planBulkAction(
    ctx,
    { action, version: input.version },
    chosen,
  );
  const workflows = new Set(chosen.map(({ workflowId }) => workflowId));
  const now = iso(ctx.now());
  return {
    runs,
    record: {
      id: newBulkActionId(),
      action,
      project: chosen[0]!.project,
      workflowId: workflows.size === 1 ? chosen[0]!.workflowId : null,
      version: input.version ?? null,
      rate: input.rate ?? null,
      concurrency: input.concurrency,
      status: "running",
      total: runs.length,
      plan: { groups, skipped, more },
      digest,
      reason: input.reason ?? null,
      message: null,
      nextAt: now,
      actor: runActor(ctx),
      keyLimits: ctx.actor.principal.access.keyLimits,
      createdAt: now,
      finishedAt: null,
      cancelledBy: null,
    },
  };
}

/** @throws AppError invalid_input */
function assertFitsAction({ action, version, workflow_id: workflowId }: Input): void {
  if (version === undefined) return;
  if (action === "cancel")
    throw invalidInput([
      {
        path: "version",
        code: "not_allowed",
        message: "can't be used with cancel",
        fix: "Leave it out.",
      },
    ]);
  if (workflowId === undefined)
    throw invalidInput([
      {
        path: "workflow_id",
        code: "required",
        message: "is required with version, which is one of that workflow",
        fix: "Send workflow_id, or leave out version.",
      },
    ]);
}

/**
 * @returns its id
 * @throws AppError bulk_action_changed, too_many_bulk_actions, storage_limit_reached, and those of `plannedAction`
 */
async function startAction(ctx: ToolContext, input: Input): Promise<string> {
  const planned = await plannedAction(ctx, input).catch((error: unknown) => {
    // A repeated request returns its bulk action even if its runs are no longer there.
    if (input.idempotency_key === undefined) throw error;
    return { error };
  });
  const id = await ctx.write(async (tx) => {
    if ("error" in planned) throw planned.error;
    const { record, runs } = planned;
    if (record.digest !== input.digest) throw changed(ctx, record);
    if (runs.length === 0)
      throw new AppError("run_not_found", "There is no run left that it would act on: nothing was started.");
    if ((await tx.bulkActions.countRunning(usageSubjectOf(record.actor))) >= MAX_RUNNING)
      throw new AppError(
        "too_many_bulk_actions",
        `${MAX_RUNNING} of your bulk actions are running, which is the maximum. Wait until one has ended, or cancel one ` +
          "(POST /bulk-actions/{bulk_action_id}/cancel).",
      );
    await ctx.engine.assertMayStore(tx, ctx.actor.principal, record.project);
    await tx.bulkActions.insert(record, runs);
    const { action, project, version, rate, digest } = record;
    await tx.recordAudit(record.id, undefined, {
      project,
      details: {
        action,
        ...(record.workflowId !== null && { workflow_id: record.workflowId }),
        ...(version !== null && { version }),
        ...(rate !== null && { rate }),
        runs: runs.length,
        ...(record.reason !== null && { reason: record.reason }),
        digest,
        effects_again: again(record),
      },
    });
    return record.id;
  });
  ctx.engine.wake();
  return id;
}

/** The steps whose effects may happen again, with the number of runs. */
const again = ({ plan }: BulkActionRecord): string[] =>
  plan.groups.flatMap(({ workflow_id: workflowId, effects = [] }) =>
    effects
      .filter((effect) => effect.again > 0)
      .map(({ step, again: runs }) => `${workflowId ?? "step"}.${step}: ${runs}`),
  );

function changed(ctx: ToolContext, record: BulkActionRecord): AppError {
  const { next } = toPreview(ctx, record);
  return new AppError(
    "bulk_action_changed",
    `The digest does not stand for what would happen now: the runs that fit, or what happens with them, have changed. ${next}`,
  );
}

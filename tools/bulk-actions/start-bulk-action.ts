import { z } from "zod";
import {
  BulkAction,
  type BulkActionPlan,
  BulkActionId,
  BulkActionKind,
  BulkConcurrency,
} from "../../schemas/bulk-action.ts";
import type { Issue } from "../../schemas/problem.ts";
import { Rate } from "../../schemas/field-values.ts";
import { WaitSeconds } from "../../schemas/run.ts";
import { DEFAULT_BULK_CONCURRENCY } from "../../schemas/bulk-action-limits.ts";
import { shortSchemas } from "../../schemas/short-schemas.ts";
import { text } from "../../schemas/text.ts";
import { IdempotencyKey, Reason, Version } from "../../schemas/workflow.ts";
import type { BulkActionRecord } from "../../src/core/bulk-action-ports.ts";
import { iso } from "../../src/core/clock.ts";
import { canonicalJson } from "../../src/core/canonical-json.ts";
import { AppError } from "../../src/core/errors.ts";
import { newBulkActionId } from "../../src/core/ids.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { shortHash } from "../../src/core/short-hash.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { usageSubjectOf } from "../../src/core/usage-limits.ts";
import { runActor } from "../runs/run-actor.ts";
import { resolveWaitSeconds } from "../runs/wait-for-run.ts";
import { chooseRuns, chosenRuns, filterOf, issuesOfChoice } from "./chosen-runs.ts";
import { planBulkAction, type PlannedRuns } from "./plan-bulk-action.ts";
import { findBulkAction, toBulkAction, toPreview } from "./serialize-bulk-action.ts";
import { waitForBulkAction } from "./wait-for-bulk-action.ts";

/** Maximum number of bulk actions of an owner that run at a time. */
const MAX_RUNNING = 3;
/** Maximum size of what a bulk action is going to do, in bytes of JSON. */
const MAX_PLAN_BYTES = 262_144;
/** Number of steps with effects that the audit log names. */
const MAX_RECORDED_STEPS = 20;

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
  concurrency: BulkConcurrency.optional().register(shortSchemas, {
    type: "integer",
    description: `Unfinished retries at a time; default ${DEFAULT_BULK_CONCURRENCY}.`,
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
  example: { action: "retry", workflow_id: "weekly-revenue", status: ["failed"], rate: "60/m" },
  output: BulkAction,
  pollLocation: ({ id, status }) => (status === "running" ? `/bulk-actions/${id}` : undefined),
  async run(input, ctx) {
    const issues = issuesOf(input);
    if (issues.length > 0) throw invalidInput(issues);
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
  "concurrency",
  "reason",
  "digest",
] as const satisfies (keyof Input)[];

/** All issues of the fields together. */
function issuesOf(input: Input): Issue[] {
  const { action, version, bulk_action_id: started } = input;
  if (started !== undefined)
    return OF_START.filter((name) => input[name] !== undefined).map((path) => ({
      path,
      code: "not_allowed",
      message: "can't be combined with bulk_action_id, which starts no bulk action",
      fix: "Leave it out to wait for that bulk action, or leave out bulk_action_id to start another one.",
    }));
  if (action === undefined)
    return [
      {
        path: "action",
        code: "required",
        message: "is required",
        allowed: BulkActionKind.options,
        fix: 'Send action: "retry" or "cancel"; or bulk_action_id, to wait for one.',
      },
    ];
  const retryOnly = (["version", "concurrency"] as const).filter(
    (name) => action === "cancel" && input[name] !== undefined,
  );
  const needsWorkflow = action === "retry" && version !== undefined && !(input.workflow_id ?? input.run_ids);
  return [
    ...retryOnly.map((path) => ({
      path,
      code: "not_allowed",
      message: "can't be used with cancel",
      fix: "Leave it out.",
    })),
    ...(needsWorkflow
      ? [
          {
            path: "workflow_id",
            code: "required",
            message: "is required with version, which is one of that workflow",
            fix: "Send workflow_id, or leave out version.",
          },
        ]
      : []),
    ...issuesOfChoice(action, input),
  ];
}

/** A bulk action as it would be stored, with its runs. */
interface PlannedAction {
  record: BulkActionRecord;
  runs: PlannedRuns["runs"];
}

/** @throws AppError invalid_input, workflow_not_found, project_not_found, run_not_found, too_many_runs, storage_full */
async function plannedAction(ctx: ToolContext, input: Input): Promise<PlannedAction> {
  const action = input.action!;
  const { version } = input;
  const isNamed = input.run_ids !== undefined;
  // What is cancelled by a filter was there at the preview. On a busy workflow other runs end and begin meanwhile.
  const before = action === "cancel" && !isNamed ? timeOfPreview(ctx, input.digest) : undefined;
  const chosen = await chooseRuns(ctx, action, {
    input,
    before: before === undefined ? undefined : iso(before),
  });
  const workflowId = workflowOf(ctx, input, chosen.workflows);
  const { runs, groups, skipped } = await planBulkAction(ctx, { action, version }, chosen);
  const plan = { groups, skipped, more: chosen.more };
  assertShort(plan, input);
  const confirmed = action === "retry" ? runs : (input.run_ids?.toSorted() ?? filterOf(action, input));
  const digest = shortHash(canonicalJson([action, version ?? null, confirmed]));
  const now = iso(ctx.now());
  return {
    runs,
    record: {
      id: newBulkActionId(),
      action,
      project: chosen.project,
      workflowId,
      version: version ?? null,
      rate: input.rate ?? null,
      concurrency: input.concurrency ?? DEFAULT_BULK_CONCURRENCY,
      status: "running",
      total: runs.length,
      plan,
      digest: before === undefined ? digest : `${before.toString(36)}.${digest}`,
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

/** The time that the digest of a cancellation begins with, in milliseconds since 1970; without a digest, the end of now. */
function timeOfPreview(ctx: ToolContext, digest: string | undefined): number {
  const time = Number.parseInt(/^([0-9a-z]{1,9})\./.exec(digest ?? "")?.[1] ?? "", 36);
  return Number.isNaN(time) ? ctx.now() + 1 : Math.min(time, ctx.now() + 1);
}

/**
 * The workflow of all runs; null if they are of several.
 * @throws AppError invalid_input where they have to be of one
 */
function workflowOf(
  { actor }: ToolContext,
  { version, run_ids: ids }: Input,
  workflows: ReadonlySet<string | null>,
): string | null {
  const [first = null] = workflows.size === 1 ? workflows : [];
  // A key that is limited to workflows would not find the bulk action again.
  const isLimited = (actor.principal.access.keyLimits?.workflows ?? null) !== null;
  if (first !== null || (version === undefined && !isLimited)) return first;
  const names = [...workflows].map((id) => id ?? "single steps").toSorted();
  throw invalidInput([
    {
      path: ids === undefined ? "workflow_id" : "run_ids",
      code: "ambiguous",
      message:
        `must choose runs of one workflow, because ${version === undefined ? "the key is limited to workflows" : "version is one of a workflow"}; ` +
        `they are of ${names.slice(0, 10).join(", ")}`,
      fix: ids === undefined ? "Send workflow_id." : "Send the runs of one workflow.",
    },
  ]);
}

/** @throws AppError invalid_input */
function assertShort(plan: BulkActionRecord["plan"], { run_ids: ids }: Input): void {
  const bytes = Buffer.byteLength(JSON.stringify(plan));
  if (bytes <= MAX_PLAN_BYTES) return;
  throw invalidInput([
    {
      path: ids === undefined ? "since" : "run_ids",
      code: "out_of_range",
      message: `chooses runs of so many versions and steps that what happens takes ${bytes} bytes to say; the maximum is ${MAX_PLAN_BYTES}`,
      fix: "Choose fewer runs: those of one workflow, or of a shorter time (since, until).",
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
    await tx.recordAudit(record.id, undefined, { project: record.project, details: detailsOf(record) });
    return record.id;
  });
  ctx.engine.wake();
  return id;
}

function detailsOf({ action, workflowId, version, rate, total, reason, digest, plan }: BulkActionRecord) {
  const again = stepsAgain(plan.groups);
  return {
    action,
    ...(workflowId !== null && { workflow_id: workflowId }),
    ...(version !== null && { version }),
    ...(rate !== null && { rate }),
    runs: total,
    ...(reason !== null && { reason }),
    digest,
    effects_again: again.slice(0, MAX_RECORDED_STEPS),
    ...(again.length > MAX_RECORDED_STEPS && { further_effects: again.length - MAX_RECORDED_STEPS }),
  };
}

/** The steps whose effects may happen again, with the number of runs. */
const stepsAgain = (groups: readonly BulkActionPlan[]): string[] =>
  groups.flatMap(({ workflow_id: workflowId, effects = [] }) =>
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

import { z } from "zod";
import { Backfill, BackfillConcurrency, backfillRange } from "../../schemas/backfill.ts";
import { IdempotencyKey, Reason, WorkflowIdRef } from "../../schemas/workflow.ts";
import type { BackfillRecord } from "../../src/core/backfill-ports.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { newBackfillId } from "../../src/core/ids.ts";
import { type ScheduleRecord } from "../../src/core/model.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { usageSubjectOf } from "../../src/core/usage-limits.ts";
import { runActor, runCaller } from "../runs/run-actor.ts";
import { findSchedule } from "../schedules/schedule-state.ts";
import { slotsOf } from "./backfill-slots.ts";
import { toBackfill } from "./serialize-backfill.ts";

/** Maximum number of backfills of an owner that run at a time. */
const MAX_RUNNING = 10;

export const startBackfill = defineTool({
  name: "start_backfill",
  title: "Start a backfill",
  description:
    "Starts the runs of a schedule for a past range, in order, each with its time in run.scheduled_for. Runs of callers and " +
    "of the schedule go first. Times that have a run are skipped. preview_backfill shows what it will do.",
  route: "POST /workflows/:workflow_id/backfills",
  surfaces: ["rest"],
  scope: "run",
  effect: "act",
  openWorld: true,
  errors: [
    "workflow_not_found",
    "schedule_not_found",
    "workflow_not_runnable",
    "too_many_backfills",
    "storage_full",
    "idempotency_key_reused",
  ],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    ...backfillRange,
    concurrency: BackfillConcurrency,
    reason: Reason.optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Backfill,
  pollLocation: ({ id, workflow_id, status }) =>
    status === "running" ? `/workflows/${workflow_id}/backfills/${id}` : undefined,
  async run({ workflow_id, existing, concurrency, reason, ...range }, ctx) {
    const schedule = await findSchedule(ctx.read, workflow_id);
    const { workflowId, version, cron, timezone, project } = schedule;
    const { from, to, times } = await slotsOf(ctx, schedule, range);
    await assertMayRun(ctx, schedule, times[0]!);
    const backfill: BackfillRecord = {
      id: newBackfillId(),
      workflowId,
      project,
      version,
      cron,
      timezone,
      from: iso(from),
      to: iso(to),
      concurrency,
      existing,
      status: "running",
      nextAt: iso(times[0]!),
      total: times.length,
      started: 0,
      skipped: 0,
      reason: reason ?? null,
      message: null,
      actor: runActor(ctx),
      keyLimits: ctx.actor.principal.access.keyLimits,
      createdAt: iso(ctx.now()),
      finishedAt: null,
      cancelledBy: null,
    };
    const result = await ctx.write(async (tx) => {
      if ((await tx.backfills.countRunning(usageSubjectOf(backfill.actor))) >= MAX_RUNNING)
        throw new AppError(
          "too_many_backfills",
          `${MAX_RUNNING} of your backfills are running, which is the maximum. Wait until one has ended, or cancel one ` +
            "(POST /workflows/{workflow_id}/backfills/{backfill_id}/cancel).",
        );
      // It may have been unpublished or published again since it was read.
      const current = await findSchedule(tx, workflowId);
      if (current.version !== version)
        throw new AppError(
          "workflow_not_runnable",
          `Version ${current.version} of "${workflowId}" was published meanwhile. Nothing was started. Look at the preview again.`,
        );
      await tx.backfills.insert(backfill);
      await tx.recordAudit(workflowId, undefined, {
        details: {
          backfill: backfill.id,
          version,
          from: backfill.from,
          to: backfill.to,
          times: times.length,
          concurrency,
          existing,
        },
      });
      return toBackfill(tx.backfills, backfill);
    });
    ctx.engine.wake();
    return result;
  },
});

/** Prepares the first run, in the name and with the limits of the caller. @throws AppError see `prepareRun` */
async function assertMayRun(
  ctx: ToolContext,
  { workflowId, version }: ScheduleRecord,
  first: number,
): Promise<void> {
  await ctx.engine.prepareRun({
    workflowId,
    caller: runCaller(ctx),
    version,
    inputs: await ctx.engine.backfillInputs({ workflowId, version }, iso(first)),
    actor: runActor(ctx),
    trigger: "backfill",
    scheduledFor: iso(first),
  });
}

import { z } from "zod";
import { ScheduleState } from "../../schemas/schedule-state.ts";
import { IdempotencyKey, WorkflowIdRef } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { keyMayStart } from "../workflows/live-changes.ts";
import { findSchedule, savePaused, scheduleState } from "./schedule-state.ts";

export const resumeSchedule = defineTool({
  name: "resume_schedule",
  title: "Resume a workflow's schedule",
  description: "Resumes a paused schedule from now on; runs that were skipped meanwhile are not made up for.",
  route: "POST /workflows/:workflow_id/schedule/resume",
  surfaces: ["rest"],
  scope: "publish",
  effect: "act",
  errors: ["workflow_not_found", "schedule_not_found", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({ workflow_id: WorkflowIdRef, idempotency_key: IdempotencyKey.optional() }),
  output: ScheduleState,
  async run({ workflow_id }, ctx) {
    const assertMayStart = await keyMayStart(
      ctx,
      () => findSchedule(ctx.read, workflow_id),
      "resume the schedule",
    );
    const state = await ctx.write(async (tx) => {
      const schedule = await findSchedule(tx, workflow_id);
      if (!schedule.paused) return scheduleState(ctx, schedule);
      await assertMayStart(schedule);
      return scheduleState(ctx, await savePaused(ctx, tx, schedule, false));
    });
    ctx.engine.wake();
    return state;
  },
});

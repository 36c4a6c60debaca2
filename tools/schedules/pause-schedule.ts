import { z } from "zod";
import { ScheduleState } from "../../schemas/schedule-state.ts";
import { IdempotencyKey, WorkflowIdRef } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findSchedule, savePaused, scheduleState } from "./schedule-state.ts";

export const pauseSchedule = defineTool({
  name: "pause_schedule",
  title: "Pause a workflow's schedule",
  description: "Pauses a schedule until it is resumed; publishing again does not resume it.",
  route: "POST /workflows/:workflow_id/schedule/pause",
  surfaces: ["rest"],
  scope: "publish",
  effect: "act",
  errors: ["workflow_not_found", "schedule_not_found", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({ workflow_id: WorkflowIdRef, idempotency_key: IdempotencyKey.optional() }),
  output: ScheduleState,
  run: ({ workflow_id }, ctx) =>
    ctx.write(async (tx) => {
      const schedule = await findSchedule(tx, workflow_id);
      if (schedule.paused) return scheduleState(ctx, schedule);
      return scheduleState(ctx, await savePaused(ctx, tx, schedule, true));
    }),
});

import { z } from "zod";
import { ScheduleState } from "../../schemas/schedule-state.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findSchedule, scheduleState } from "./schedule-state.ts";

export const getSchedule = defineTool({
  name: "get_schedule",
  title: "Get a workflow's schedule",
  description:
    "Returns the schedule of a published workflow: the next times, the last run, and skipped runs.",
  route: "GET /workflows/:workflow_id/schedule",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["workflow_not_found", "schedule_not_found"],
  input: z.strictObject({ workflow_id: WorkflowIdRef }),
  output: ScheduleState,
  run: async ({ workflow_id }, ctx) => scheduleState(ctx, await findSchedule(ctx.read, workflow_id)),
});

import { z } from "zod";
import { ScheduleState } from "../../schemas/run.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findSchedule, scheduleState } from "./schedule-state.ts";

export const getSchedule = defineTool({
  name: "get_schedule",
  title: "Get a workflow's schedule",
  description:
    "Tells when a published workflow runs next by itself, when it last did, and what was left out.",
  route: "GET /workflows/:workflow_id/schedule",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["workflow_not_found", "schedule_not_found"],
  input: z.strictObject({ workflow_id: WorkflowIdRef }),
  output: ScheduleState,
  run: async ({ workflow_id }, ctx) => scheduleState(ctx, await findSchedule(ctx.read, workflow_id)),
});

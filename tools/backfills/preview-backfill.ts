import { z } from "zod";
import { BackfillConcurrency, BackfillPreview, backfillRange } from "../../schemas/backfill.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import type { ScheduleRecord } from "../../src/core/model.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { findSchedule } from "../schedules/schedule-state.ts";
import { previewSlots, slotsOf } from "./backfill-slots.ts";

export const previewBackfill = defineTool({
  name: "preview_backfill",
  title: "Preview a backfill",
  description:
    "Lists the scheduled times of a past range, with the runs that they have, and what start_backfill would start. It changes " +
    "nothing.",
  route: "GET /workflows/:workflow_id/backfill-preview",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["workflow_not_found", "schedule_not_found"],
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    ...backfillRange,
    concurrency: BackfillConcurrency,
  }),
  output: BackfillPreview,
  async run({ workflow_id, existing, concurrency, ...range }, ctx) {
    const schedule = await findSchedule(ctx.read, workflow_id);
    const { from, to, times } = await slotsOf(ctx, schedule, range);
    const slots = await previewSlots(ctx, schedule, { times, existing });
    return {
      workflow_id: schedule.workflowId,
      version: schedule.version,
      cron: schedule.cron,
      timezone: schedule.timezone,
      from: iso(from),
      to: iso(to),
      existing,
      total: times.length,
      starts: slots.filter(({ action }) => action === "start").length,
      slots,
      warnings: await warningsOf(ctx, schedule, concurrency),
    };
  },
});

/** What a person should know before many runs start. */
async function warningsOf(
  ctx: ToolContext,
  { workflowId, version }: ScheduleRecord,
  concurrency: number,
): Promise<string[]> {
  const definition = await ctx.read.runs.versionDefinition(workflowId, version);
  const inputs = (definition?.["schedule"] as { inputs?: unknown } | undefined)?.inputs;
  const text = JSON.stringify(definition ?? {});
  const max = definition?.["concurrency"];
  return [
    ...(text.includes("run.scheduled_for")
      ? []
      : [
          "The definition does not read run.scheduled_for, so all runs do the same. Use it in " +
            (inputs === undefined ? "schedule.inputs" : "the steps") +
            " to choose the data of each time.",
        ]),
    ...(definition?.["commit"] !== undefined && concurrency > 1
      ? [
          "The runs commit to the state of the workflow: with a concurrency above 1 some fail with state_conflict.",
        ]
      : []),
    ...(typeof max === "number" && max < concurrency
      ? [`The definition allows ${max} run${max === 1 ? "" : "s"} at a time (concurrency).`]
      : []),
  ];
}

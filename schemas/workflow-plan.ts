/** What a run of a workflow would do. */
import { z } from "zod";
import { PlannedWorkflow } from "./approval.ts";
import { PlannedAlert, PlannedSchedule, PlannedTrigger } from "./review.ts";

const ExpectedStep = z
  .strictObject({
    id: z.string().meta({ example: "revenue" }),
    seconds: z.number().meta({ description: "Duration.", example: 0.2 }),
    rows: z.int().optional().meta({ description: "Number of rows that its query returns.", example: 120 }),
    cost: z
      .number()
      .optional()
      .meta({ description: "Of its model; left out without a price.", example: 0.01 }),
  })
  .meta({ description: "The median of a step over the same runs." });

export const WorkflowPlan = z
  .strictObject({
    workflow_id: z.string().meta({ example: "weekly-revenue" }),
    version: z.int().meta({ example: 3 }),
    words: z.string().meta({ description: "The plan in words.", example: "A run can do this: …" }),
    workflows: z.array(PlannedWorkflow).meta({
      description: "What each step does, of the version and of the workflows that it calls.",
    }),
    schedule: PlannedSchedule.nullable(),
    must_succeed: PlannedAlert.optional(),
    triggers: z
      .array(PlannedTrigger)
      .optional()
      .meta({ description: "The webhooks that start it once published; left out for none." }),
    saves_state: z.array(z.string()).meta({
      description: "The values of the workflow state that a run writes.",
      example: ["last_id"],
    }),
    expected: z
      .strictObject({
        runs: z.int().meta({ description: "Number of runs that it is derived from.", example: 5 }),
        seconds: z.number().meta({ description: "Duration of a run.", example: 3.2 }),
        cost: z.number().nullable().meta({
          description: "Of its models; null where one has no price, or none was called.",
          example: 0.02,
        }),
        input_tokens: z.int().meta({ example: 812 }),
        output_tokens: z.int().meta({ example: 64 }),
        steps: z.array(ExpectedStep),
      })
      .nullable()
      .meta({
        description:
          "Medians of the newest runs that succeeded, at most 10, without trials and without the runs that they called; null without any.",
      }),
  })
  .meta({ id: "WorkflowPlan", description: "What a run of a workflow would read, write and send." });
export type WorkflowPlan = z.infer<typeof WorkflowPlan>;

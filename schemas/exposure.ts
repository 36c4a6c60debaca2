/** Whether agents get a workflow as a tool of its own. */
import { z } from "zod";
import { Issue } from "./problem.ts";
import { RequestedReview } from "./review.ts";
import { timestamp, zonedTimestamp } from "./text.ts";
import { Version, Workflow } from "./workflow.ts";

const ExposureState = z.enum(["not_requested", "requested", "allowed"]).meta({
  description:
    "`requested`: the published version has `expose_as_tool`, but no admin has allowed what it shows and reaches now.",
  example: "requested",
});

const ExposureDigest = z
  .string()
  .regex(/^[\w-]{1,64}$/, { error: "must be the digest that get_exposure returns" })
  .meta({
    description: "Stands for the texts and effects that a consent covers. From get_exposure.",
    example: "q5t1Yc0nX2m8dR4kLw7ZbA",
  });

export const Exposure = z
  .strictObject({
    workflow_id: z.string().meta({ example: "weekly-revenue" }),
    state: ExposureState,
    version: Version.nullable().meta({ description: "The published version that asks for it." }),
    digest: ExposureDigest.nullable().meta({
      description: "What a consent covers; allow_exposure needs it.",
    }),
    author: z
      .string()
      .nullable()
      .meta({ description: "Who wrote this version.", example: "ann@example.com" }),
    name: z.string().nullable().meta({ example: "Weekly revenue" }),
    description: z.string().nullable().meta({ example: "Revenue by region." }),
    inputs: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: "The JSON Schema of its inputs." }),
    tool_name: z
      .string()
      .nullable()
      .meta({ description: "The name of the tool.", example: "run_weekly_revenue" }),
    listed_inputs: z.record(z.string(), z.unknown()).nullable().meta({
      description:
        "Its inputs as agents get them, with keywords and names that all model vendors take; null where they get no fields.",
    }),
    warnings: z
      .array(Issue)
      .meta({ description: "What clients or vendors refuse as it is written, and what is listed instead." }),
    effects: z.array(z.string()).meta({
      description: "What its runs reach outside, with those of the workflows that it runs.",
      example: ["sql reads shop", "http GET https://example.com/"],
    }),
    read_only: z.boolean().meta({ description: "Whether it is announced as read-only.", example: false }),
    allowed_by: z.string().nullable().meta({ description: "Who allowed it.", example: "ann@example.com" }),
    allowed_at: timestamp.nullable(),
  })
  .meta({ id: "Exposure", description: "Whether agents get a workflow as a tool, and what they get." });
export type Exposure = z.infer<typeof Exposure>;

/** The digest that a consent names, so that it covers what the admin has seen. */
export const ConsentDigest = ExposureDigest;

export const PublishedWorkflow = Workflow.extend({
  exposure: z
    .strictObject({
      state: z.enum(["requested", "allowed"]),
      detail: z.string(),
      tool_name: z.string().meta({ example: "run_weekly_revenue" }),
      warnings: z
        .array(Issue)
        .optional()
        .meta({ description: "What clients or vendors refuse as it is written. Left out when empty." }),
    })
    .optional()
    .meta({ description: "With `expose_as_tool`: whether agents get it as a tool, and what to do." }),
  review: RequestedReview.optional(),
  warnings: z
    .array(Issue)
    .optional()
    .meta({ description: "Examples that were not checked to their end. Left out when empty." }),
  next_runs: z
    .array(zonedTimestamp)
    .optional()
    .meta({ description: "With a schedule: when it runs next; none while it is paused." }),
}).meta({ id: "PublishedWorkflow", description: "A workflow after publish_workflow." });

/** The state of a workflow: values that runs leave for later ones. */
import { z } from "zod";
import { containsInfinity, exceedsDepth, MAX_JSON_DEPTH, timestamp } from "./text.ts";

export const StateValues = z
  .record(z.string(), z.unknown())
  .refine((value) => !exceedsDepth(value, MAX_JSON_DEPTH), {
    message: `must not be nested deeper than ${MAX_JSON_DEPTH} levels`,
    params: { code: "too_deep" },
  })
  .refine((value) => !containsInfinity(value), {
    message: "must not contain a number too large for JSON readers (beyond about 1.8e308)",
    params: { code: "not_finite" },
  })
  .meta({
    description: "The value of each key that the definition declares in `state`.",
    example: { last_id: 1284 },
  });

export const WorkflowStateContent = z
  .strictObject({
    workflow_id: z.string().meta({ example: "new-orders" }),
    version: z.int().meta({
      description: "The version that declares the keys: the published one, else the newest.",
      example: 3,
    }),
    revision: z.int().meta({
      description: "Counts the writes, from 1 for a state that was never written.",
      example: 17,
    }),
    values: z.record(z.string(), z.unknown()).meta({
      description: "What the next run reads; a key that was never written has its default.",
      example: { last_id: 1284 },
    }),
    updated_at: timestamp.nullable().meta({ description: "When it was last written." }),
    updated_by: z
      .string()
      .nullable()
      .meta({ description: "The run that committed it, or who set it.", example: "run_8dkq2m0sfj3a" }),
  })
  .meta({ id: "WorkflowState", description: "Values that runs of a workflow leave for later ones." });
export type WorkflowStateContent = z.infer<typeof WorkflowStateContent>;

export const StateChangeKind = z.enum(["commit", "set", "reset", "import"]).meta({
  description: "A run committed it; a person or key set it, or reset it to the defaults; it was imported.",
  example: "commit",
});
export type StateChangeKind = z.infer<typeof StateChangeKind>;

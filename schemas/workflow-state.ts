/** The state of a workflow: values that runs leave for later ones. */
import { z } from "zod";
import { checkJsonValue, timestamp } from "./text.ts";

export const StateValues = z
  .record(z.string(), z.unknown())
  .check(checkJsonValue)
  .meta({
    description: "The value of each key that the definition declares in `state`.",
    example: { last_id: 1284 },
  });

export const StateKeys = z
  .array(z.string().min(1).max(200))
  .min(1)
  .max(100)
  .meta({
    description: "The keys to reset. Default: all that the definition declares.",
    example: ["last_id"],
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

export const StateChange = z
  .strictObject({
    revision: z.int().meta({ description: "The revision of the state after it.", example: 17 }),
    kind: StateChangeKind,
    at: timestamp,
    by: z
      .string()
      .meta({ description: "The run that committed it, or who set it.", example: "run_8dkq2m0sfj3a" }),
    key_name: z
      .string()
      .nullable()
      .meta({ description: "The key that set it; null for a run.", example: null }),
    reason: z.string().nullable().meta({ example: "The shop has renumbered its orders." }),
    changes: z
      .array(
        z.strictObject({
          key: z.string().meta({ example: "last_id" }),
          before: z.unknown().optional().meta({ example: 1280 }),
          after: z.unknown().optional().meta({ example: 1284 }),
        }),
      )
      .meta({
        description:
          "The keys whose values changed. Without `before` it was not written yet, without `after` it has its default again. Of a long value it is `{truncated: true, chars, preview}`.",
      }),
  })
  .meta({ id: "StateChange", description: "A change of a workflow's state." });
export type StateChange = z.infer<typeof StateChange>;

/** Triggers of workflows and their deliveries, as clients receive them. */
import { z } from "zod";
import { ProjectField } from "./project.ts";
import { Signature } from "./signature.ts";
import { text, timestamp } from "./text.ts";

export const TriggerDeliveryStatus = z.enum(["received", "started", "filtered", "failed", "refused"]).meta({
  description:
    "`received`: it starts a run soon. `started`: it started one. `filtered`: `if` was false. `failed`: the run could not start. `refused`: the sender got an error.",
  example: "started",
});
export type TriggerDeliveryStatus = z.infer<typeof TriggerDeliveryStatus>;

/** How deliveries end that start no run: a repetition of one is evaluated again. */
export const ENDED_WITHOUT_RUN: readonly TriggerDeliveryStatus[] = ["filtered", "failed"];

export const TriggerName = text(64, 1).meta({
  description: "The id of the trigger in the definition.",
  example: "pushed",
});

export const TriggerDeliveryId = text(100, 1).meta({
  description: "The id of the delivery, from list_trigger_deliveries.",
  example: "trd_8dkq2m0sfj3a",
});

export const TriggerState = z
  .strictObject({
    workflow_id: z.string().meta({ example: "on-push" }),
    project: ProjectField,
    id: TriggerName,
    version: z.int().meta({ description: "The published version that it starts.", example: 3 }),
    type: z.literal("webhook"),
    url: z.string().optional().meta({
      description:
        "Where senders send deliveries: anyone who has it can send some. Shown to those who may change the workflow; without a signature, only if they may run it too.",
      example: "https://millrace.example.com/hooks/trg_8dkq2m0sfj3a.Zm9yIGV4YW1wbGUgb25seSwgbm90IHZhbGlk",
    }),
    signature: Signature.nullable().meta({
      description: "The signature that deliveries must have; null for none.",
    }),
    created_at: timestamp,
    rotated_at: timestamp.nullable().meta({ description: "When its URL was last replaced." }),
    owner: z
      .string()
      .meta({ description: "Whom its runs belong to: who published it.", example: "ada@example.com" }),
  })
  .meta({ id: "TriggerState", description: "A trigger of a published workflow." });
export type TriggerState = z.infer<typeof TriggerState>;

export const TriggerDelivery = z
  .strictObject({
    id: TriggerDeliveryId,
    workflow_id: z.string().meta({ example: "on-push" }),
    trigger: TriggerName,
    received_at: timestamp,
    status: TriggerDeliveryStatus,
    run_id: z
      .string()
      .nullable()
      .meta({ description: "The run that it started.", example: "run_8dkq2m0sfj3a" }),
    sender_id: z
      .string()
      .nullable()
      .meta({ description: "The id that its sender gave it.", example: "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W" }),
    repeats: z.int().meta({
      description:
        "How often it was sent again before it ended, or after it started its run; that started nothing.",
      example: 0,
    }),
    bytes: z.int().meta({ description: "Length of its body, in bytes.", example: 1_204 }),
    code: z.string().nullable().meta({ description: "Why it started no run, as a word.", example: null }),
    reason: z.string().nullable().meta({ description: "Why it started no run.", example: null }),
    redelivery_of: z.string().nullable().meta({
      description:
        "The delivery that this one repeats: delivered again by hand, or by its sender after it started nothing.",
      example: null,
    }),
    redelivered_by: z
      .string()
      .nullable()
      .meta({ description: "Who delivered it again by hand; null for its sender.", example: null }),
    has_body: z
      .boolean()
      .meta({ description: "Whether its body is still stored, so that it can be redelivered." }),
  })
  .meta({
    id: "TriggerDelivery",
    description: "What a sender has sent to a trigger, and what became of it.",
  });
export type TriggerDelivery = z.infer<typeof TriggerDelivery>;

export const TriggerDeliveryWithBody = z
  .strictObject({
    ...TriggerDelivery.shape,
    headers: z
      .record(z.string(), z.string())
      .nullable()
      .meta({
        description: "Its headers, without secrets and signatures.",
        example: { "x-github-event": "push" },
      }),
    query: z
      .record(z.string(), z.union([z.string(), z.array(z.string())]))
      .nullable()
      .meta({
        description: "Its query. A parameter that was repeated is a list.",
        example: { tag: ["a", "b"] },
      }),
    body: z.unknown().meta({
      description: "Its body; null when it is no longer stored.",
      example: { ref: "refs/heads/main" },
    }),
  })
  .meta({ id: "TriggerDeliveryWithBody", description: "A delivery with its body." });
export type TriggerDeliveryWithBody = z.infer<typeof TriggerDeliveryWithBody>;

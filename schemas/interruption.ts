/** Interruptions: attempts of steps with effects that ended without an answer, as the API returns them. */
import { z } from "zod";
import { ProjectField } from "./project.ts";
import { text, timestamp } from "./text.ts";

/** What a step does next whose attempt ended without an answer. */
export const OnInterrupted = z.enum(["retry", "fail", "ask"]).meta({
  id: "OnInterrupted",
  description:
    "What happens after an attempt with effects that ended without an answer, because its executor died, the connection broke or its time was over. " +
    "`retry` sends it again, with the same idempotency key. `fail` ends the step with `interrupted`. `ask` waits until a person says whether the effect happened. " +
    "Default: what the configuration says of the connection, else `retry`; with a lookup, `fail`.",
  example: "ask",
});
export type OnInterrupted = z.infer<typeof OnInterrupted>;

export const InterruptionId = text(100, 1).meta({
  description: "The interruption's id, from list_interruptions or the run.",
  example: "int_8dkq2m0sfj3a",
});

export const InterruptionReason = z.enum(["executor_ended", "timeout", "connection_lost", "cancelled"]).meta({
  description:
    "`executor_ended`: its executor died or was stopped. `timeout`: its time was over. `connection_lost`: the connection broke after it was sent. " +
    "`cancelled`: its run was stopped.",
  example: "executor_ended",
});
export type InterruptionReason = z.infer<typeof InterruptionReason>;

export const InterruptionOutcome = z.enum(["happened", "not_happened", "unknown"]).meta({
  description:
    "Whether the effect happened. A step that waits for it: `happened` ends it with `output`, `not_happened` sends it again, and `unknown` fails it.",
  example: "happened",
});
export type InterruptionOutcome = z.infer<typeof InterruptionOutcome>;

export const Interruption = z
  .strictObject({
    id: z.string().meta({ example: "int_8dkq2m0sfj3a" }),
    run_id: z.string().meta({ example: "run_8dkq2m0sfj3a" }),
    workflow_id: z
      .string()
      .nullable()
      .meta({ description: "Null in a run of a single step.", example: "weekly-payout" }),
    project: ProjectField,
    step_id: z.string().meta({
      description: "The step; `undo:` and its id for what undoes it.",
      example: "pay",
    }),
    item: z.int().optional().meta({ description: "In a fan-out: which item, from 0.", example: 17 }),
    attempt: z.int().meta({ description: "The attempt that was interrupted, from 1.", example: 1 }),
    reason: InterruptionReason,
    idempotency_key: z.string().meta({
      description: "The key by which the receiver may know it.",
      example: "run_8dkq2m0sfj3a:pay:-:Zr4mXw5pXq0a",
    }),
    started_at: timestamp.meta({ description: "When the attempt started." }),
    interrupted_at: timestamp.meta({ description: "When it ended, or was found to have ended." }),
    waiting: z.boolean().meta({
      description: "Whether the run waits until somebody settles it.",
      example: true,
    }),
    lookup: z
      .strictObject({
        at: timestamp,
        error: z.string().nullable().meta({ description: "Why it could not tell; null if it did." }),
      })
      .nullable()
      .meta({ description: "The last lookup; null without one." }),
    outcome: InterruptionOutcome.nullable().meta({
      description: "Null while nobody knows: it is open.",
    }),
    settled_at: timestamp.nullable().meta({ description: "When it was settled." }),
    settled_by: z.string().nullable().meta({
      description: "The person or key that settled it; null for a lookup.",
      example: "ada@example.com",
    }),
    comment: z
      .string()
      .nullable()
      .meta({ description: "What this person wrote.", example: "Seen in the ledger." }),
  })
  .meta({
    id: "Interruption",
    description:
      "An attempt of a step with effects that ended without an answer: whether its effect happened is not known until a lookup or a person settles it.",
  });
export type Interruption = z.infer<typeof Interruption>;

/** Maximum number of open interruptions that a run lists. */
export const LISTED_INTERRUPTIONS = 20;

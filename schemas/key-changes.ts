/** What an API key changed since a moment, and what a revert of it does. */
import { z } from "zod";
import { ApiKeyState } from "./api-key.ts";
import { TimestampInput } from "./run.ts";
import { text, timestamp } from "./text.ts";
import { Version, WorkflowStatus } from "./workflow.ts";

export const ChangeKind = z
  .enum([
    "created",
    "edited",
    "archived",
    "restored",
    "published",
    "unpublished",
    "schedule_paused",
    "schedule_resumed",
    "exposure_allowed",
    "exposure_withdrawn",
    "offered",
    "offer_withdrawn",
    "moved",
  ])
  .meta({ description: "What the key did.", example: "edited" });
export type ChangeKind = z.infer<typeof ChangeKind>;

const KeyChange = z.strictObject({
  change: ChangeKind,
  count: z.int().meta({ description: "How often.", example: 3 }),
  from: Version.nullable().meta({
    description:
      "The version before: the newest one, or for `published` and `unpublished` the published one.",
    example: 3,
  }),
  to: Version.nullable().meta({ description: "The same version afterwards.", example: 6 }),
  first_at: timestamp,
  last_at: timestamp,
});

const RevertOutcome = z.enum(["revertible", "reverted", "skipped", "unchanged"]).meta({
  description:
    "`revertible`: a revert has these effects. `skipped`: see `reason`. `unchanged`: it is as it was before already.",
  example: "revertible",
});
export type RevertOutcome = z.infer<typeof RevertOutcome>;

const Reason = z
  .strictObject({
    code: z.string().meta({ example: "changed_since" }),
    message: z.string().meta({ example: "ann@example.com (browser) changed it (version 7) after the key." }),
  })
  .nullable()
  .meta({ description: "Why it is skipped." });

const ChangedWorkflow = z
  .strictObject({
    workflow_id: z.string().meta({ example: "weekly-revenue" }),
    name: z.string().meta({ example: "Weekly revenue" }),
    project: z.string().optional().meta({ example: "finance" }),
    status: WorkflowStatus,
    version: Version,
    published_version: Version.nullable(),
    changes: z.array(KeyChange).meta({ description: "What the key changed, by kind." }),
    outcome: RevertOutcome,
    effects: z.array(z.string()).meta({
      description: "What the revert does or did, in words.",
      example: ["version 7 gets the content of version 3", "version 3 is published again"],
    }),
    reason: Reason,
    changed_since: z
      .array(
        z.strictObject({
          owner: z.string().meta({ example: "ann@example.com" }),
          key_name: z.string().nullable().meta({ example: "browser" }),
          at: timestamp,
          change: ChangeKind,
          version: Version.nullable(),
        }),
      )
      .meta({ description: "What others changed after the key; the last ten." }),
  })
  .meta({ id: "ChangedWorkflow", description: "A workflow that a key changed." });
export type ChangedWorkflow = z.infer<typeof ChangedWorkflow>;

const count = (example: number) => z.int().meta({ example });

const remains = z.string().meta({
  description: "What stays in force, and what to do about it.",
  example: "The grants hold. remove_grant takes those away that are not wanted.",
});

const KeyOperation = z.strictObject({
  operation: z.string().meta({
    description: "The operation, with its outcome after a dot, as the audit log names it.",
    example: "add_grant",
  }),
  label: z
    .string()
    .meta({ description: "What the key did, in words.", example: "granted projects the use of connections" }),
  count: z.int().meta({ description: "How often.", example: 3 }),
  first_at: timestamp,
  last_at: timestamp,
});

const InForce = z.enum([...RevertOutcome.options, "in_force"]).meta({
  description: "As for workflows. `in_force`: the revert changes nothing; see `remains`.",
  example: "in_force",
});
export type OutcomeInForce = z.infer<typeof InForce>;

const ChangedSubscription = z
  .strictObject({
    subscription_id: z.string().meta({ example: "sub_Zr4mXw5pXq0a" }),
    name: z
      .string()
      .nullable()
      .meta({ description: "Null where no record has it.", example: "Alerts of the night" }),
    project: z.string().optional().meta({ example: "finance" }),
    changes: z.array(KeyOperation).meta({ description: "What the key did, by operation." }),
    outcome: InForce,
    effects: z.array(z.string()).meta({
      description: "What the revert does or did, in words.",
      example: ["it delivers to https://example.com/hooks/millrace again"],
    }),
    reason: Reason,
    remains: z.array(remains),
  })
  .meta({ id: "ChangedSubscription", description: "A subscription that a key changed." });
export type ChangedSubscription = z.infer<typeof ChangedSubscription>;

const RotatedTrigger = z
  .strictObject({
    workflow_id: z.string().meta({ example: "on-push" }),
    trigger: z.string().meta({ example: "pushed" }),
    count: z.int().meta({ description: "How often the key replaced its URL.", example: 1 }),
    rotated_at: timestamp.meta({ description: "When it did so last." }),
    outcome: InForce,
    effects: z.array(z.string()).meta({
      description: "What the revert does or did, in words.",
      example: ["its URL is replaced again"],
    }),
    reason: Reason,
    remains: z.array(remains),
  })
  .meta({ id: "RotatedTrigger", description: "A trigger whose URL a key replaced." });
export type RotatedTrigger = z.infer<typeof RotatedTrigger>;

const NotReverted = KeyOperation.extend({
  project: z.string().optional().meta({ example: "finance" }),
  targets: z.array(z.string()).meta({
    description: "What it was done to, the last first; at most 20.",
    example: ["database:shop"],
  }),
  remains,
}).meta({ id: "NotReverted", description: "An operation of a key that a revert does nothing about." });
export type NotReverted = z.infer<typeof NotReverted>;

export const KeyChanges = z
  .strictObject({
    key: z.strictObject({
      id: z.string().meta({ example: "key_8dkq2m0sfj3a" }),
      name: z.string().meta({ example: "ci" }),
      owner: z.string().meta({ example: "ann@example.com" }),
      state: ApiKeyState,
    }),
    since: timestamp,
    client: z.string().nullable().meta({ description: "Only changes by this program; null for all." }),
    attribution: z.enum(["key", "name"]).meta({
      description:
        "`name`: some changes are older than the records of keys. They were matched by owner and name of the key, which " +
        "another key can share.",
    }),
    records_since: timestamp.nullable().meta({
      description: "The oldest record, where the audit log does not reach back to `since`; else null.",
    }),
    workflows: z.array(ChangedWorkflow).meta({ description: "The last changed first." }),
    remaining: count(0).meta({
      description:
        "Number of further workflows, subscriptions and triggers. Revert these first, or name them.",
    }),
    subscriptions: z
      .array(ChangedSubscription)
      .meta({ description: "The subscriptions that it changed, the last changed first." }),
    triggers: z
      .array(RotatedTrigger)
      .meta({ description: "The triggers whose URLs it replaced, the last first." }),
    not_reverted: z.array(NotReverted).meta({
      description: "All else that it did, by operation and project: a revert does nothing about it.",
    }),
    unseen: count(0).meta({
      description: "How often it did something in projects that you can't see. Ask an admin to look.",
    }),
    already_reverted: count(0).meta({
      description: "Number of workflows and subscriptions whose changes are reverted.",
    }),
    clients: z
      .array(z.string())
      .meta({ description: "The programs that used the key since.", example: ["claude-code"] }),
  })
  .meta({ id: "KeyChanges", description: "What a key changed, and what a revert does or did." });
export type KeyChanges = z.infer<typeof KeyChanges>;

export const KeyChangesSince = TimestampInput.meta({
  description: "Only changes at or after this time or date.",
  example: "2026-11-21T08:00:00Z",
});

export const KeyChangesClient = text(200, 1).meta({
  description: "Only changes by this program, as `clients` names it.",
  example: "claude-code",
});

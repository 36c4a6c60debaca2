/** Subscriptions to events, and their deliveries. */
import { z } from "zod";
import { ProjectField } from "./project.ts";
import { text, timestamp, visible } from "./text.ts";

/** The events that a subscription can name. */
export const EVENT_TYPES = [
  "run.succeeded",
  "run.failed",
  "run.waiting",
  "run.interrupted",
  "approval.requested",
  "workflow.published",
  "workflow.overdue",
  "key.expiring",
] as const;

/** What a test delivery reports. */
export const TEST_EVENT = "subscription.test";

export type EventType = (typeof EVENT_TYPES)[number] | typeof TEST_EVENT;

export const SubscribedEvents = z
  .array(z.enum(EVENT_TYPES))
  .min(1)
  .max(EVENT_TYPES.length)
  .refine((events) => new Set(events).size === events.length, {
    message: "must not contain the same event twice",
    params: { code: "duplicate" },
  })
  .meta({
    description: "The events to deliver.",
    example: ["run.failed", "workflow.overdue"],
    uniqueItems: true,
  });

export const SubscriptionFormat = z.enum(["standard_webhooks", "slack", "teams", "discord"]).meta({
  description:
    "`standard_webhooks`: JSON, signed as Standard Webhooks says. The others: a message for an incoming webhook of that chat.",
  example: "standard_webhooks",
});
export type SubscriptionFormat = z.infer<typeof SubscriptionFormat>;

export const SubscriptionName = visible("line", 100, 1).meta({
  description: "The name that people see.",
  example: "Alerts of the night",
});

export const SubscriptionUrl = text(2_000, 1).meta({
  description:
    "The URL that gets the deliveries. It is shown to admins: one that is itself a secret is named by url_secret.",
  example: "https://example.com/hooks/millrace",
});

export const UrlSecret = text(200, 1).meta({
  description:
    "In place of url: the name of a secret of the configuration whose value is the URL, as chats make them.",
  example: "slack_alerts",
});

export const SubscribedWorkflows = z
  .array(text(200, 1))
  .min(1)
  .max(100)
  .nullable()
  .meta({
    description:
      "Only events of these workflows, and of the runs that other runs start of them. Null: of every workflow of the project, without runs that other runs start.",
    example: ["weekly-revenue"],
  });

export const SubscribedTags = z
  .array(visible("line", 50, 1))
  .min(1)
  .max(20)
  .nullable()
  .meta({
    description: "Only events of workflows that have one of these tags. Null: whatever the tags.",
    example: ["finance"],
  });

export const IncludeValues = z.boolean().meta({
  description:
    "Whether run.succeeded and run.failed contain the inputs and the output of the run, and the message of its error, while who last set the URL or this can read runs of the project.",
  example: false,
});

export const SubscriptionIdRef = text(100, 1).meta({
  description: "The subscription's id, from list_subscriptions.",
  example: "sub_Zr4mXw5pXq0a",
});

export const Subscription = z
  .strictObject({
    id: z.string().meta({ example: "sub_Zr4mXw5pXq0a" }),
    project: ProjectField,
    name: z.string().meta({ example: "Alerts of the night" }),
    format: SubscriptionFormat,
    url: z
      .string()
      .nullable()
      .meta({ description: "Null where a secret holds it.", example: "https://example.com/hooks/millrace" }),
    url_secret: z
      .string()
      .nullable()
      .meta({ description: "The name of the secret that holds the URL.", example: null }),
    events: z.array(z.enum(EVENT_TYPES)).meta({ example: ["run.failed"] }),
    workflows: SubscribedWorkflows,
    tags: SubscribedTags,
    include_values: IncludeValues,
    values_withheld: z.string().nullable().meta({
      description:
        "Why deliveries leave the values out although include_values is set, and what to do; null while they hold them.",
      example: null,
    }),
    confirmed_by: z.string().nullable().meta({
      description:
        "Who last set the URL or include_values: values are delivered as long as this person, and the key that was used, may read them. Null after an import.",
      example: "ada@example.com",
    }),
    confirmed_at: timestamp.nullable().meta({ description: "When that was." }),
    paused_at: timestamp
      .nullable()
      .meta({ description: "Since when nothing is delivered; null while it is active." }),
    pause_reason: z.string().nullable().meta({ description: "Why it is paused.", example: null }),
    failing_since: timestamp
      .nullable()
      .meta({ description: "When the first attempt failed since the last success." }),
    succeeded_at: timestamp.nullable().meta({ description: "The last successful delivery." }),
    previous_secret_until: timestamp.nullable().meta({
      description: "Until when deliveries are also signed with the secret before the last rotation.",
    }),
    pending: z
      .int()
      .meta({ description: "Deliveries that are not delivered yet, counted up to 10,000.", example: 0 }),
    failed: z.int().meta({ description: "Deliveries that were given up, counted up to 10,000.", example: 0 }),
    created_at: timestamp,
    created_by: z.string().meta({ example: "ada@example.com" }),
  })
  .meta({ id: "Subscription", description: "What is delivered to a URL when something happens." });
export type Subscription = z.infer<typeof Subscription>;

export const NewSubscription = Subscription.extend({
  secret: z.string().nullable().meta({
    description: "The signing secret, only in this answer; null for chats, whose messages are not signed.",
    example: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDw0qkyTYhXY0=",
  }),
}).meta({ id: "NewSubscription", description: "A subscription with its signing secret." });

export const DeliveryState = z.enum(["pending", "delivered", "failed"]).meta({
  description: "`failed`: given up after about a day of attempts. It can be delivered again.",
  example: "delivered",
});
export type DeliveryState = z.infer<typeof DeliveryState>;

export const DeliveryIdRef = text(100, 1).meta({
  description: "The delivery's id, which receivers get as webhook-id.",
  example: "dlv_8dkq2m0sfj3a",
});

export const Delivery = z
  .strictObject({
    id: z
      .string()
      .meta({ description: "The same in each attempt, sent as webhook-id.", example: "dlv_8dkq2m0sfj3a" }),
    subscription_id: z.string().meta({ example: "sub_Zr4mXw5pXq0a" }),
    project: ProjectField,
    event_id: z.string().meta({ example: "evt_q0aZr4mXw1kq" }),
    event: z.string().meta({ example: "run.failed" }),
    workflow_id: z.string().nullable().meta({ example: "weekly-revenue" }),
    run_id: z.string().nullable().meta({ example: "run_8dkq2m0sfj3a" }),
    state: DeliveryState,
    attempts: z.int().meta({ example: 1 }),
    created_at: timestamp,
    next_at: timestamp.nullable().meta({ description: "When the next attempt is due." }),
    attempted_at: timestamp.nullable().meta({ description: "The last attempt." }),
    status: z.int().nullable().meta({ description: "The status of the last response.", example: 200 }),
    response: z
      .string()
      .nullable()
      .meta({ description: "The beginning of the last response.", example: "ok" }),
    error: z.string().nullable().meta({ description: "Why the last attempt failed.", example: null }),
    ms: z
      .int()
      .nullable()
      .meta({ description: "How long the last attempt took, in milliseconds.", example: 120 }),
  })
  .meta({ id: "Delivery", description: "The delivery of one event to one subscription." });
export type Delivery = z.infer<typeof Delivery>;

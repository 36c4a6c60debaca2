/** What events and formats are called. */
import type { Subscription, SubscriptionFormat } from "../../../schemas/subscription.ts";

export const EVENT_LABELS: Readonly<Record<Subscription["events"][number], string>> = {
  "run.failed": "A run failed",
  "run.succeeded": "A run succeeded",
  "run.waiting": "A run waits",
  "run.interrupted": "It isn't known whether an effect of a run happened",
  "approval.requested": "An approval is needed",
  "workflow.published": "A version was published",
  "workflow.overdue": "A workflow is overdue",
  "key.expiring": "An API key expires soon",
};

/** The label of an event, or its name for one that can't be chosen. */
export const eventLabel = (event: string): string =>
  (EVENT_LABELS as Readonly<Record<string, string>>)[event] ?? "Test";

export const FORMAT_LABELS: Readonly<Record<SubscriptionFormat, string>> = {
  standard_webhooks: "Webhook (signed)",
  slack: "Slack",
  teams: "Microsoft Teams",
  discord: "Discord",
};

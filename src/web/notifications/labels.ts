/** What events and formats are called. */
import * as texts from "#texts/notifications";
import type { Subscription, SubscriptionFormat } from "../../../schemas/subscription.ts";

export const EVENT_LABELS: Readonly<Record<Subscription["events"][number], string>> = {
  "run.failed": texts.runFailed,
  "run.succeeded": texts.runSucceeded,
  "run.waiting": texts.runWaiting,
  "approval.requested": texts.approvalRequested,
  "workflow.published": texts.workflowPublished,
  "workflow.overdue": texts.workflowOverdue,
  "key.expiring": texts.keyExpiring,
};

/** The label of an event, or its name for one that can't be chosen. */
export const eventLabel = (event: string): string =>
  (EVENT_LABELS as Readonly<Record<string, string>>)[event] ?? texts.testEvent;

export const FORMAT_LABELS: Readonly<Record<SubscriptionFormat, string>> = {
  standard_webhooks: texts.signedWebhook,
  slack: "Slack",
  teams: "Microsoft Teams",
  discord: "Discord",
};

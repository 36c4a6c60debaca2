/** Subscriptions and deliveries as the API returns them. */
import { projectField } from "../../schemas/project.ts";
import type { Delivery, Subscription } from "../../schemas/subscription.ts";
import { MAX_TOTAL } from "../../schemas/page.ts";
import type { Readers } from "../../src/core/ports.ts";
import type { DeliveryRecord, SubscriptionRecord } from "../../src/core/subscription-ports.ts";
import { valuesGrant } from "../../src/core/values-grant.ts";

export async function serializeSubscription(
  read: Pick<Readers, "subscriptions" | "users" | "projects" | "apiKeys">,
  record: SubscriptionRecord,
  now: number,
): Promise<Subscription> {
  const { subscriptions } = read;
  const grant = record.includeValues ? await valuesGrant(read, record, now) : undefined;
  const countOf = async (state: "pending" | "failed"): Promise<number> =>
    Math.min(await subscriptions.countDeliveries(record.id, state), MAX_TOTAL);
  return {
    id: record.id,
    ...projectField(record.project),
    name: record.name,
    format: record.format,
    url: record.url,
    url_secret: record.urlSecret,
    events: record.events as Subscription["events"],
    workflows: record.workflows && [...record.workflows],
    tags: record.tags && [...record.tags],
    include_values: record.includeValues,
    values_withheld: grant !== undefined && "withheld" in grant ? grant.withheld : null,
    confirmed_by: record.confirmedBy,
    confirmed_at: record.confirmedAt,
    paused_at: record.pausedAt,
    pause_reason: record.pauseReason,
    failing_since: record.failingSince,
    succeeded_at: record.succeededAt,
    previous_secret_until: record.previousUntil,
    pending: await countOf("pending"),
    failed: await countOf("failed"),
    created_at: record.createdAt,
    created_by: record.createdBy,
  };
}

export const serializeDelivery = (record: DeliveryRecord): Delivery => ({
  id: record.id,
  subscription_id: record.subscriptionId!,
  ...projectField(record.event.project),
  event_id: record.event.id,
  event: record.event.type,
  workflow_id: record.event.workflowId,
  run_id: record.event.runId,
  state: record.state,
  attempts: record.attempts,
  created_at: record.createdAt,
  next_at: record.state === "pending" ? record.dueAt : null,
  attempted_at: record.attemptedAt,
  status: record.status,
  response: record.response,
  error: record.error,
  ms: record.ms,
});

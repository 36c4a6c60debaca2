/** Finds subscriptions and deliveries for callers who administer their project. */
import { AppError } from "../../src/core/errors.ts";
import type { Readers } from "../../src/core/ports.ts";
import type { DeliveryRecord, SubscriptionRecord } from "../../src/core/subscription-ports.ts";

type Read = Pick<Readers, "subscriptions">;

/** @throws AppError subscription_not_found, missing_scope */
export async function findSubscription({ subscriptions }: Read, id: string): Promise<SubscriptionRecord> {
  const found = await subscriptions.find(id);
  if (found !== undefined) return found;
  throw new AppError(
    "subscription_not_found",
    `There is no subscription "${id.slice(0, 100)}" that this key or role can see. list_subscriptions (GET /subscriptions) lists them.`,
  );
}

/** @throws AppError delivery_not_found, missing_scope */
export async function findDelivery(
  { subscriptions }: Read,
  id: string,
): Promise<DeliveryRecord & { subscriptionId: string }> {
  const found = await subscriptions.findDelivery(id);
  if (found !== undefined && found.subscriptionId !== null)
    return { ...found, subscriptionId: found.subscriptionId };
  throw new AppError(
    "delivery_not_found",
    `There is no delivery "${id.slice(0, 100)}" that this key or role can see. list_deliveries (GET /deliveries) lists them.`,
  );
}

/** Refuses what a paused subscription does not do. @throws AppError subscription_paused */
export function assertActive({ id, pauseReason }: SubscriptionRecord, pausedAt: string | null): void {
  if (pausedAt === null) return;
  throw new AppError(
    "subscription_paused",
    `The subscription ${id} is paused${pauseReason === null ? "" : `: ${pauseReason}`} Nothing was changed. ` +
      `Resume it first (PATCH /subscriptions/${id} with {"paused": false}).`,
  );
}

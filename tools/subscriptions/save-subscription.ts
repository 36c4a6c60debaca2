/** Writes subscriptions that exist, with the audit entry that says what changed. */
import { iso } from "../../src/core/clock.ts";
import type { Writers } from "../../src/core/ports.ts";
import { detailsOfSubscriptionChange } from "../../src/core/subscription-change-details.ts";
import type { SubscriptionRecord } from "../../src/core/subscription-ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";

type Ports = Pick<Writers, "subscriptions" | "recordAudit">;

/** Changes the fields that are given. An entry is written only where one of them differs. @returns the record afterwards */
export async function saveSubscription(
  tx: Ports,
  before: SubscriptionRecord,
  given: Partial<SubscriptionRecord>,
): Promise<SubscriptionRecord> {
  const after = { ...before, ...given };
  const names = Object.keys(given) as (keyof SubscriptionRecord)[];
  if (names.every((name) => JSON.stringify(after[name]) === JSON.stringify(before[name]))) return before;
  await tx.subscriptions.update(before.id, given);
  await tx.recordAudit(before.id, undefined, {
    project: before.project,
    details: detailsOfSubscriptionChange(before, after),
  });
  return after;
}

/** Deletes a subscription with its deliveries. */
export async function removeSubscription(tx: Ports, found: SubscriptionRecord): Promise<void> {
  await tx.subscriptions.remove(found.id);
  await tx.recordAudit(found.id, undefined, {
    project: found.project,
    details: detailsOfSubscriptionChange(found, null),
  });
}

/** Pausing an already paused one keeps its reason. Resuming one that failed gives it its days again. */
export function pauseOf(
  { pausedAt }: SubscriptionRecord,
  paused: boolean | undefined,
  { actor, now }: Pick<ToolContext, "actor" | "now">,
): Partial<SubscriptionRecord> {
  if (paused === undefined || paused === (pausedAt !== null)) return {};
  return paused
    ? { pausedAt: iso(now()), pauseReason: `Paused by ${actor.principal.owner}.` }
    : { pausedAt: null, pauseReason: null, failingSince: null };
}

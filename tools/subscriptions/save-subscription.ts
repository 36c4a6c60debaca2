/** Writes subscriptions that exist, with the audit entry that says what changed. */
import { iso } from "../../src/core/clock.ts";
import type { Principal, Writers } from "../../src/core/ports.ts";
import { detailsOfSubscriptionChange } from "../../src/core/subscription-change-details.ts";
import type { SubscriptionRecord } from "../../src/core/subscription-ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { confirmationBy } from "../../src/core/values-grant.ts";

type Ports = Pick<Writers, "subscriptions" | "recordAudit">;

/** Who sets one of these answers for where the values go, also where the value stays the same. */
const CONFIRMING: readonly (keyof SubscriptionRecord)[] = ["url", "urlSecret", "includeValues"];

/** Changes the fields that are given. An entry is written only where one of them differs. @returns the record afterwards */
export async function saveSubscription(
  { actor, now }: Pick<ToolContext, "actor" | "now">,
  tx: Ports,
  before: SubscriptionRecord,
  given: Partial<SubscriptionRecord>,
): Promise<SubscriptionRecord> {
  const change = {
    ...given,
    ...(CONFIRMING.some((name) => Object.hasOwn(given, name)) &&
      confirmationOf(before, actor.principal, iso(now()))),
  };
  const after = { ...before, ...change };
  const names = Object.keys(change) as (keyof SubscriptionRecord)[];
  if (names.every((name) => JSON.stringify(after[name]) === JSON.stringify(before[name]))) return before;
  await tx.subscriptions.update(before.id, change);
  await tx.recordAudit(before.id, undefined, {
    project: before.project,
    details: detailsOfSubscriptionChange(before, after),
  });
  return after;
}

/** Who answers for the values from now on; nothing where it is the same already, so that a repeated request changes nothing. */
function confirmationOf(
  before: SubscriptionRecord,
  principal: Principal,
  at: string,
): Partial<SubscriptionRecord> {
  const next = confirmationBy(principal, at);
  const isSame = next.confirmedBy === before.confirmedBy && next.confirmedLineage === before.confirmedLineage;
  return isSame ? {} : next;
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

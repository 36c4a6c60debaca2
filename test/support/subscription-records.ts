/** Subscriptions and deliveries in the store, without going through the operations. */
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import { iso } from "../../src/core/clock.ts";
import { newSubscriptionId } from "../../src/core/ids.ts";
import type { SubscriptionRecord } from "../../src/core/subscription-ports.ts";
import { outboxWriter } from "../../src/store/outbox.ts";
import { subscriptionWriter } from "../../src/store/subscriptions.ts";
import type { TestInstance } from "./instance.ts";

type Opened = Pick<TestInstance, "store" | "clock">;

/** Inserts a subscription. @returns its id */
export async function addSubscription(
  { store, clock }: Opened,
  fields: Partial<SubscriptionRecord> = {},
): Promise<string> {
  const id = newSubscriptionId();
  await store.transaction((trx) =>
    subscriptionWriter(trx).insert({
      id,
      project: DEFAULT_PROJECT,
      name: "test",
      format: "standard_webhooks",
      url: "https://example.com/hook",
      urlSecret: null,
      events: ["run.failed"],
      workflows: null,
      tags: null,
      includeValues: false,
      generation: 1,
      previousUntil: null,
      pausedAt: null,
      pauseReason: null,
      failingSince: null,
      succeededAt: null,
      createdAt: iso(clock.now()),
      createdBy: "operator",
      subject: "operator",
      confirmedBy: "operator",
      confirmedLineage: null,
      confirmedAt: iso(clock.now()),
      ...fields,
    }),
  );
  return id;
}

/** Inserts a delivery that was delivered. @returns its id */
export async function addDelivery(
  { store, clock }: Opened,
  subscriptionId: string,
  project: string = DEFAULT_PROJECT,
): Promise<string> {
  const at = iso(clock.now());
  return store.transaction(async (trx) => {
    const event = { type: "run.failed" as const, project, workflowId: null, runId: null, at, data: {} };
    const id = await outboxWriter(trx).recordFor(subscriptionId, event);
    await trx
      .updateTable("deliveries")
      .set({ state: "delivered", due_at: null, ended_at: at, status: 204 })
      .where("id", "=", id)
      .execute();
    return id;
  });
}

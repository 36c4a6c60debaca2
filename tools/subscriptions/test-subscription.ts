import { z } from "zod";
import { Delivery, SubscriptionIdRef, TEST_EVENT } from "../../schemas/subscription.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import { defineTool } from "../../src/core/tool.ts";
import { assertActive, findDelivery, findSubscription } from "./find-subscription.ts";
import { serializeDelivery } from "./serialize-subscription.ts";

export const testSubscription = defineTool({
  name: "test_subscription",
  title: "Send a test event",
  description:
    "Delivers the event subscription.test to a subscription, as it delivers others. get_delivery shows what became of it.",
  route: "POST /subscriptions/:subscription_id/test",
  surfaces: ["rest"],
  scope: "admin",
  effect: "act",
  openWorld: true,
  errors: [
    "subscription_not_found",
    "subscription_paused",
    "storage_limit_reached",
    "idempotency_key_reused",
  ],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({ subscription_id: SubscriptionIdRef, idempotency_key: IdempotencyKey.optional() }),
  output: Delivery,
  run: ({ subscription_id: id }, ctx) =>
    ctx.write(async (tx) => {
      const subscription = await findSubscription(tx, id);
      assertActive(subscription, subscription.pausedAt);
      const { project, name } = subscription;
      await ctx.engine.assertMayStore(tx, ctx.actor.principal, project);
      const deliveryId = await tx.outbox.recordFor(id, {
        type: TEST_EVENT,
        project,
        workflowId: null,
        runId: null,
        at: iso(ctx.now()),
        data: { subscription_id: id, subscription_name: name, requested_by: ctx.actor.principal.owner },
      });
      await tx.recordAudit(id, undefined, { project, details: { delivery: deliveryId } });
      return serializeDelivery(await findDelivery(tx, deliveryId));
    }),
});

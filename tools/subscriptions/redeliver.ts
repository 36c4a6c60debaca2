import { z } from "zod";
import { Delivery, DeliveryIdRef } from "../../schemas/subscription.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool } from "../../src/core/tool.ts";
import { assertActive, findDelivery, findSubscription } from "./find-subscription.ts";
import { serializeDelivery } from "./serialize-subscription.ts";

export const redeliver = defineTool({
  name: "redeliver",
  title: "Deliver an event again",
  description:
    "Sends an event again that was delivered, or given up, with the same id: a receiver that has it already can tell.",
  route: "POST /deliveries/:delivery_id/redeliver",
  surfaces: ["rest"],
  scope: "admin",
  effect: "act",
  openWorld: true,
  errors: ["delivery_not_found", "delivery_pending", "subscription_paused", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({ delivery_id: DeliveryIdRef, idempotency_key: IdempotencyKey.optional() }),
  output: Delivery,
  run: ({ delivery_id: id }, ctx) =>
    ctx.write(async (tx) => {
      const { subscriptionId, event, attempts } = await findDelivery(tx, id);
      const subscription = await findSubscription(tx, subscriptionId);
      assertActive(subscription, subscription.pausedAt);
      if (!(await tx.subscriptions.redeliver(id, iso(ctx.now()))))
        throw new AppError(
          "delivery_pending",
          `The delivery ${id} is pending already. Nothing was changed. GET /deliveries/${id} shows when its next attempt is.`,
        );
      await tx.recordAudit(subscriptionId, undefined, {
        project: event.project,
        details: { delivery: id, attempts },
      });
      return serializeDelivery(await findDelivery(tx, id));
    }),
});

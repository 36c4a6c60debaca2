import { z } from "zod";
import { Delivery, DeliveryId } from "../../schemas/delivery.ts";
import { IdempotencyKey, WorkflowIdRef } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findDelivery, findTrigger, serializeDelivery, triggerNameOf } from "./trigger-state.ts";

export const redeliverDelivery = defineTool({
  name: "redeliver_delivery",
  title: "Deliver again what a trigger received",
  description:
    "Delivers the stored body again, to the version that is published now: a run starts as for a new delivery, whatever the first one started.",
  route: "POST /workflows/:workflow_id/deliveries/:delivery_id/redeliver",
  surfaces: ["rest"],
  scope: "publish",
  effect: "act",
  errors: [
    "workflow_not_found",
    "delivery_not_found",
    "trigger_not_found",
    "delivery_not_stored",
    "rate_limited",
    "too_many_runs",
    "storage_limit_reached",
    "idempotency_key_reused",
  ],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    delivery_id: DeliveryId,
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Delivery,
  async run({ workflow_id, delivery_id }, ctx) {
    const again = await ctx.write(async (tx) => {
      const first = await findDelivery(tx, workflow_id, delivery_id);
      const trigger = await findTrigger(tx, workflow_id, await triggerNameOf(tx, first));
      const event = await tx.deliveries.event(first.id);
      if (event === undefined) throw notStored(first.id);
      const delivery = await ctx.engine.triggers.redeliver(unscoped(tx), trigger, first, event);
      await tx.recordAudit(trigger.workflowId, undefined, {
        details: { trigger: trigger.name, delivery: first.id, redelivery: delivery.id },
      });
      return serializeDelivery(delivery, trigger.name);
    });
    ctx.engine.wake();
    return again;
  },
});

const notStored = (id: string): AppError =>
  new AppError(
    "delivery_not_stored",
    `The body of the delivery "${id}" is not stored: it was refused, or newer deliveries took its place. ` +
      "Let the sender send it again.",
  );

import { z } from "zod";
import { TriggerDelivery, TriggerDeliveryId } from "../../schemas/trigger-delivery.ts";
import { IdempotencyKey, WorkflowIdRef } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import { defineTool } from "../../src/core/tool.ts";
import { runRefusal } from "./may-run.ts";
import { findDelivery, findTrigger, serializeTriggerDelivery, triggerNameOf } from "./trigger-state.ts";

export const redeliverTriggerDelivery = defineTool({
  name: "redeliver_trigger_delivery",
  title: "Deliver again what a trigger received",
  description:
    "Delivers the stored body again, to the version that is published now: a run starts as for a new delivery, whatever the first one started. Scopes: publish and run.",
  route: "POST /workflows/:workflow_id/deliveries/:delivery_id/redeliver",
  surfaces: ["rest"],
  scope: "publish",
  effect: "act",
  errors: [
    "workflow_not_found",
    "trigger_delivery_not_found",
    "trigger_not_found",
    "trigger_delivery_not_stored",
    "workflow_not_runnable",
    "too_many_runs",
    "storage_limit_reached",
    "storage_full",
    "idempotency_key_reused",
  ],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    delivery_id: TriggerDeliveryId,
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: TriggerDelivery,
  async run({ workflow_id, delivery_id }, ctx) {
    // Whatever does not exist is reported after the idempotency key, by the transaction.
    const received = await ctx.read.triggerDeliveries.find(delivery_id);
    const live = received && (await ctx.read.triggers.find(received.triggerId));
    const isLive = live?.removed === false;
    const checked = isLive ? await runRefusal(ctx, live) : undefined;
    if (isLive && checked === undefined) await ctx.engine.triggers.assertMayStart(live, ctx.actor.principal);
    const again = await ctx.write(async (tx) => {
      const first = await findDelivery(tx, workflow_id, delivery_id);
      const trigger = await findTrigger(tx, workflow_id, await triggerNameOf(tx, first));
      const event = await tx.triggerDeliveries.event(first.id);
      if (event === undefined) throw notStored(first.id);
      // It may have been published since it was read.
      const isChecked = isLive && trigger.version === live.version;
      const refusal = isChecked ? checked : await runRefusal(ctx, trigger);
      if (refusal !== undefined) throw refusal;
      const { owner, keyName, lineage, access } = ctx.actor.principal;
      const by = { owner, keyName, lineage, limits: access.keyLimits };
      const delivery = await ctx.engine.triggers.redeliver(unscoped(tx), trigger, first, { event, by });
      await tx.recordAudit(trigger.workflowId, undefined, {
        details: { trigger: trigger.name, delivery: first.id, redelivery: delivery.id },
      });
      return serializeTriggerDelivery(delivery, trigger.name);
    });
    ctx.engine.wake();
    return again;
  },
});

const notStored = (id: string): AppError =>
  new AppError(
    "trigger_delivery_not_stored",
    `The body of the delivery "${id}" is not stored: it was refused, or newer deliveries took its place. ` +
      "Let the sender send it again.",
  );

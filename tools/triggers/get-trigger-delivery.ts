import { z } from "zod";
import { TriggerDeliveryId, TriggerDeliveryWithBody } from "../../schemas/trigger-delivery.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findDelivery, serializeTriggerDelivery, triggerNameOf } from "./trigger-state.ts";

export const getTriggerDelivery = defineTool({
  name: "get_trigger_delivery",
  title: "Get a delivery with its body",
  description:
    "Returns a delivery with its body and headers, without secrets and signatures. They can be the sample of a trigger.",
  route: "GET /workflows/:workflow_id/deliveries/:delivery_id",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  readsValues: true,
  errors: ["workflow_not_found", "trigger_delivery_not_found"],
  input: z.strictObject({ workflow_id: WorkflowIdRef, delivery_id: TriggerDeliveryId }),
  output: TriggerDeliveryWithBody,
  async run({ workflow_id, delivery_id }, ctx) {
    const delivery = await findDelivery(ctx.read, workflow_id, delivery_id);
    const event = await ctx.read.triggerDeliveries.event(delivery.id);
    return {
      ...serializeTriggerDelivery(delivery, await triggerNameOf(ctx.read, delivery)),
      headers: event?.headers ?? null,
      query: event?.query ?? null,
      redeliveries: await ctx.read.triggerDeliveries.redeliveries(delivery),
      body: event?.body ?? null,
    };
  },
});

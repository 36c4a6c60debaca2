import { z } from "zod";
import { DeliveryId, DeliveryWithBody } from "../../schemas/delivery.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findDelivery, serializeDelivery, triggerNameOf } from "./trigger-state.ts";

export const getDelivery = defineTool({
  name: "get_delivery",
  title: "Get a delivery with its body",
  description:
    "Returns a delivery with its body and headers, without secrets and signatures. They can be the sample of a trigger.",
  route: "GET /workflows/:workflow_id/deliveries/:delivery_id",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  readsValues: true,
  errors: ["workflow_not_found", "delivery_not_found"],
  input: z.strictObject({ workflow_id: WorkflowIdRef, delivery_id: DeliveryId }),
  output: DeliveryWithBody,
  async run({ workflow_id, delivery_id }, ctx) {
    const delivery = await findDelivery(ctx.read, workflow_id, delivery_id);
    const event = await ctx.read.deliveries.event(delivery.id);
    return {
      ...serializeDelivery(delivery, await triggerNameOf(ctx.read, delivery)),
      headers: event?.headers ?? null,
      query: event?.query ?? null,
      body: event?.body ?? null,
    };
  },
});

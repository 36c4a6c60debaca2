import { z } from "zod";
import { Delivery, DeliveryIdRef } from "../../schemas/subscription.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findDelivery } from "./find-subscription.ts";
import { serializeDelivery } from "./serialize-subscription.ts";

export const getDelivery = defineTool({
  name: "get_delivery",
  title: "Get a delivery",
  description: "Returns a delivery with the response to its last attempt.",
  route: "GET /deliveries/:delivery_id",
  surfaces: ["rest"],
  scope: "admin",
  effect: "read",
  errors: ["delivery_not_found"],
  input: z.strictObject({ delivery_id: DeliveryIdRef }),
  output: Delivery,
  run: async ({ delivery_id: id }, ctx) => serializeDelivery(await findDelivery(ctx.read, id)),
});

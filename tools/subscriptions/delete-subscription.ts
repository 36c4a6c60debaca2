import { z } from "zod";
import { Subscription, SubscriptionIdRef } from "../../schemas/subscription.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findSubscription } from "./find-subscription.ts";
import { removeSubscription } from "./save-subscription.ts";
import { serializeSubscription } from "./serialize-subscription.ts";

export const deleteSubscription = defineTool({
  name: "delete_subscription",
  title: "Delete a subscription",
  description: "Deletes a subscription with its deliveries, also those that are pending.",
  route: "DELETE /subscriptions/:subscription_id",
  surfaces: ["rest"],
  scope: "admin",
  effect: "delete",
  errors: ["subscription_not_found"],
  input: z.strictObject({ subscription_id: SubscriptionIdRef }),
  output: Subscription,
  run: ({ subscription_id: id }, ctx) =>
    ctx.write(async (tx) => {
      const found = await findSubscription(tx, id);
      const deleted = await serializeSubscription(tx, found, ctx.now());
      await removeSubscription(tx, found);
      return deleted;
    }),
});

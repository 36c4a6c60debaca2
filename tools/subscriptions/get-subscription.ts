import { z } from "zod";
import { Subscription, SubscriptionIdRef } from "../../schemas/subscription.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findSubscription } from "./find-subscription.ts";
import { serializeSubscription } from "./serialize-subscription.ts";

export const getSubscription = defineTool({
  name: "get_subscription",
  title: "Get a subscription",
  description: "Returns a subscription, with how many deliveries are pending or were given up.",
  route: "GET /subscriptions/:subscription_id",
  surfaces: ["rest"],
  scope: "admin",
  effect: "read",
  errors: ["subscription_not_found"],
  input: z.strictObject({ subscription_id: SubscriptionIdRef }),
  output: Subscription,
  run: async ({ subscription_id: id }, ctx) =>
    serializeSubscription(ctx.read, await findSubscription(ctx.read, id), ctx.now()),
});

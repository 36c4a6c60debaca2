import { z } from "zod";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { ProjectFilter } from "../../schemas/project.ts";
import { Delivery, DeliveryState, SubscriptionIdRef } from "../../schemas/subscription.ts";
import { defineTool } from "../../src/core/tool.ts";
import { assertProjectFilter } from "../projects/find-project.ts";
import { serializeDelivery } from "./serialize-subscription.ts";

export const listDeliveries = defineTool({
  name: "list_deliveries",
  title: "List deliveries",
  description:
    "Lists deliveries to subscriptions, newest first. Those with the state failed were given up after about a day; redeliver sends them again.",
  route: "GET /deliveries",
  surfaces: ["rest"],
  scope: "admin",
  effect: "read",
  errors: ["invalid_cursor", "project_not_found"],
  page: { item: Delivery, mcpLimit: 20, alwaysPaged: () => true },
  input: z.strictObject({
    subscription_id: SubscriptionIdRef.optional(),
    state: DeliveryState.optional(),
    project: ProjectFilter,
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(Delivery),
  async run({ subscription_id: subscriptionId, state, project, limit, cursor }, ctx) {
    await assertProjectFilter(ctx, project);
    const filter = { subscriptionId, state, project };
    const query = JSON.stringify(["list_deliveries", filter]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const pageSize = limit ?? listDeliveries.page!.mcpLimit;
    const { items, next } = await ctx.read.subscriptions.deliveries({ filter, after, limit: pageSize });
    return {
      items: items.map(serializeDelivery),
      ...(await ctx.total(() => ctx.read.subscriptions.countAll(filter))),
      next_cursor: next && ctx.cursors.encode(query, next),
    };
  },
});

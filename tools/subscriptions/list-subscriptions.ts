import { z } from "zod";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { ProjectFilter } from "../../schemas/project.ts";
import { Subscription } from "../../schemas/subscription.ts";
import { defineTool } from "../../src/core/tool.ts";
import { assertProjectFilter } from "../projects/find-project.ts";
import { serializeSubscription } from "./serialize-subscription.ts";

export const listSubscriptions = defineTool({
  name: "list_subscriptions",
  title: "List subscriptions",
  description: "Lists the subscriptions of the projects that the caller administers, newest first.",
  route: "GET /subscriptions",
  surfaces: ["rest"],
  scope: "admin",
  effect: "read",
  errors: ["invalid_cursor", "project_not_found"],
  page: { item: Subscription, mcpLimit: 20 },
  input: z.strictObject({ project: ProjectFilter, limit: Limit.optional(), cursor: Cursor.optional() }),
  output: pageOf(Subscription),
  async run({ project, limit, cursor }, ctx) {
    await assertProjectFilter(ctx, project);
    const filter = { project };
    const query = JSON.stringify(["list_subscriptions", filter]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const pageSize = limit ?? listSubscriptions.page!.mcpLimit;
    const { items, next } = await ctx.read.subscriptions.page({ filter, after, limit: pageSize });
    return {
      items: await Promise.all(items.map((item) => serializeSubscription(ctx.read, item, ctx.now()))),
      ...(await ctx.total(() => ctx.read.subscriptions.count(filter))),
      next_cursor: next && ctx.cursors.encode(query, next),
    };
  },
});

import { z } from "zod";
import { TriggerDelivery, TriggerDeliveryStatus, TriggerName } from "../../schemas/trigger-delivery.ts";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findTrigger, serializeTriggerDelivery, triggerNameOf } from "./trigger-state.ts";

export const listTriggerDeliveries = defineTool({
  name: "list_trigger_deliveries",
  title: "List what a workflow's triggers received",
  description:
    "Lists the deliveries to the triggers of a workflow, newest first: which run each started, or why it started none. They are kept for 30 days.",
  route: "GET /workflows/:workflow_id/deliveries",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["workflow_not_found", "trigger_not_found", "invalid_cursor"],
  page: { item: TriggerDelivery, mcpLimit: 50, alwaysPaged: () => true },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    trigger: TriggerName.optional().meta({ description: "Only to this trigger.", example: "pushed" }),
    status: TriggerDeliveryStatus.optional(),
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(TriggerDelivery),
  async run({ workflow_id, trigger, status, limit, cursor }, ctx) {
    const { id: workflowId } = await findWorkflow(ctx.read.workflows, workflow_id);
    const triggerId =
      trigger === undefined ? undefined : (await findTrigger(ctx.read, workflowId, trigger)).id;
    const filter = { workflowId, triggerId, status };
    const query = JSON.stringify(["list_trigger_deliveries", filter]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const pageSize = limit ?? listTriggerDeliveries.page!.mcpLimit;
    const { items, next } = await ctx.read.triggerDeliveries.page({ filter, after, limit: pageSize });
    const names = new Map<string, string>();
    for (const delivery of items)
      if (!names.has(delivery.triggerId))
        names.set(delivery.triggerId, await triggerNameOf(ctx.read, delivery));
    return {
      items: items.map((delivery) => serializeTriggerDelivery(delivery, names.get(delivery.triggerId)!)),
      ...(await ctx.total(() => ctx.read.triggerDeliveries.count(filter))),
      next_cursor: next && ctx.cursors.encode(query, next),
    };
  },
});

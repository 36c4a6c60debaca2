import { z } from "zod";
import { TriggerState } from "../../schemas/trigger-delivery.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { triggerState } from "./trigger-state.ts";

export const getTriggers = defineTool({
  name: "get_triggers",
  title: "List a workflow's triggers",
  description:
    "Lists the triggers of the published version, with the URL of each for those who may change the workflow. A URL stays the same over versions.",
  route: "GET /workflows/:workflow_id/triggers",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["workflow_not_found"],
  input: z.strictObject({ workflow_id: WorkflowIdRef }),
  output: z
    .strictObject({ items: z.array(TriggerState) })
    .meta({ id: "TriggerList", description: "The triggers of a workflow, by id." }),
  async run({ workflow_id }, ctx) {
    const { id } = await findWorkflow(ctx.read.workflows, workflow_id);
    const triggers = await ctx.read.triggers.ofWorkflow(id);
    return { items: await Promise.all(triggers.map((trigger) => triggerState(ctx, trigger))) };
  },
});

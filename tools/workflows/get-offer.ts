import { z } from "zod";
import { WorkflowOffer } from "../../schemas/offer.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { offerResponse } from "./offer-response.ts";

export const getOffer = defineTool({
  name: "get_offer",
  title: "Get a workflow's offer",
  description: "Returns the projects that a workflow is offered to.",
  route: "GET /workflows/:workflow_id/offer",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["workflow_not_found"],
  input: z.strictObject({ workflow_id: WorkflowIdRef }),
  output: WorkflowOffer,
  async run({ workflow_id }, ctx) {
    const { id } = await findWorkflow(ctx.read.workflows, workflow_id);
    return offerResponse(id, await ctx.read.projects.offersOf(id), ctx.read.projects);
  },
});

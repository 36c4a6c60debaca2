import { z } from "zod";
import { Exposure } from "../../schemas/exposure.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { readExposure } from "./exposure.ts";

export const getExposure = defineTool({
  name: "get_exposure",
  title: "Get whether a workflow is a tool",
  description:
    "Returns whether agents get the published version as a tool of its own, the texts that they get, and what its runs reach.",
  route: "GET /workflows/:workflow_id/exposure",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["workflow_not_found"],
  input: z.strictObject({ workflow_id: WorkflowIdRef }),
  output: Exposure,
  async run({ workflow_id }, ctx) {
    const { id } = await findWorkflow(ctx.read.workflows, workflow_id);
    return readExposure(ctx.read.workflows, id);
  },
});

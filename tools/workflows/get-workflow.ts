import { z } from "zod";
import { Workflow, WorkflowIdRef } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";

export const getWorkflow = defineTool({
  name: "get_workflow",
  title: "Get a workflow",
  description:
    "Gives one workflow whole, with its definition and its version. Call it before update_workflow, " +
    "and hand the version back there as if_match.",
  route: "GET /workflows/:workflow_id",
  scope: "read",
  effect: "read",
  errors: ["workflow_not_found"],
  input: z.strictObject({ workflow_id: WorkflowIdRef }),
  output: Workflow,
  etag: (workflow) => String(workflow.version),
  run: ({ workflow_id }, ctx) => findWorkflow(ctx.read.workflows, workflow_id),
});

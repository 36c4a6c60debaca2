import { z } from "zod";
import { Version, WorkflowIdRef, WorkflowVersion } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";

export const getWorkflowVersion = defineTool({
  name: "get_workflow_version",
  title: "Get one version of a workflow",
  description: "Returns one version of a workflow with its definition, who made it, when and why.",
  route: "GET /workflows/:workflow_id/versions/:version",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["workflow_not_found", "version_not_found"],
  input: z.strictObject({ workflow_id: WorkflowIdRef, version: Version }),
  output: WorkflowVersion,
  async run({ workflow_id, version }, ctx) {
    const workflow = await findWorkflow(ctx.read.workflows, workflow_id);
    const found = await ctx.read.workflows.findVersion(workflow.id, version);
    if (found !== undefined) return found;
    throw new AppError(
      "version_not_found",
      `"${workflow.id}" has no version ${version}; its versions are 1 to ${workflow.version}.`,
    );
  },
});

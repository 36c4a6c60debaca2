import { z } from "zod";
import { Version, WorkflowIdRef, WrittenVersion } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { findVersion } from "./find-version.ts";

export const getWorkflowVersion = defineTool({
  name: "get_workflow_version",
  title: "Get one version of a workflow",
  description:
    "Returns one version of a workflow with its definition and the text of that, who made it, when and why.",
  route: "GET /workflows/:workflow_id/versions/:version",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["workflow_not_found", "version_not_found"],
  input: z.strictObject({ workflow_id: WorkflowIdRef, version: Version }),
  output: WrittenVersion,
  async run({ workflow_id, version }, ctx) {
    const workflow = await findWorkflow(ctx.read.workflows, workflow_id);
    const found = await findVersion(ctx.read.workflows, workflow, version);
    return { ...found, definition_text: await ctx.read.workflows.versionText(workflow.id, version) };
  },
});

import { z } from "zod";
import { Workflow, WorkflowIdRef } from "../../schemas/workflow.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { workflowEtag } from "./etag.ts";
import { lastRunOf } from "./last-run.ts";

export const getWorkflow = defineTool({
  name: "get_workflow",
  title: "Get a workflow",
  description:
    "Returns one workflow with its definition, version and callers. Call it before update_workflow, " +
    "and send the version there as if_match.",
  route: "GET /workflows/:workflow_id",
  scope: "read",
  effect: "read",
  errors: ["workflow_not_found"],
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    include: z
      .array(z.enum(["last_run"]))
      .max(1)
      .default([])
      .meta({ description: "What to add.", example: ["last_run"] }),
  }),
  output: Workflow,
  etag: workflowEtag,
  async run({ workflow_id, include }, ctx) {
    const found = await findWorkflow(ctx.read.workflows, workflow_id);
    const used_by = await ctx.read.workflows.callers(found.id, { published: false });
    const workflow = { ...found, used_by };
    if (!include.includes("last_run")) return workflow;
    const runs = await ctx.read.runs.latestByWorkflow([workflow.id]);
    return { ...workflow, last_run: lastRunOf(runs.get(workflow.id)) };
  },
});

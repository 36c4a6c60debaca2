import { z } from "zod";
import { BackfillId } from "../../schemas/backfill.ts";
import { pageOf } from "../../schemas/page.ts";
import { RunSummary } from "../../schemas/run.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { isSearch, runFilter, MCP_PAGE_SIZE, runPage } from "./run-page.ts";

export const listWorkflowRuns = defineTool({
  name: "list_workflow_runs",
  title: "List a workflow's runs",
  description: "Lists a workflow's runs, newest first. Over MCP: list_runs with workflow_id.",
  route: "GET /workflows/:workflow_id/runs",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  readsValues: true,
  errors: ["workflow_not_found", "invalid_cursor"],
  page: { item: RunSummary, mcpLimit: MCP_PAGE_SIZE, alwaysPaged: isSearch },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    ...runFilter,
    backfill: BackfillId.optional().meta({
      description: "Only runs that this backfill started.",
      example: "bf_8dkq2m0sfj3a",
    }),
  }),
  output: pageOf(RunSummary),
  async run({ workflow_id, ...options }, ctx) {
    const { id } = await findWorkflow(ctx.read.workflows, workflow_id);
    return runPage(ctx, "list_workflow_runs", { workflow_id: id, ...options });
  },
});

import { z } from "zod";
import { pageOf } from "../../schemas/page.ts";
import { ProjectFilter } from "../../schemas/project.ts";
import { RunSummary } from "../../schemas/run.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { omit } from "../../src/core/omit.ts";
import { defineTool } from "../../src/core/tool.ts";
import { assertProjectFilter } from "../projects/find-project.ts";
import { isSearch, runFilter, MCP_PAGE_SIZE, runPage } from "./run-page.ts";

/** Fields of a run that get_run has for the few runs in question. */
const FEW_NEED = ["trigger", "started_at", "finished_at"];

export const listRuns = defineTool({
  name: "list_runs",
  title: "List runs",
  description: "Lists runs, newest first, with status and error. get_run returns one.",
  route: "GET /runs",
  scope: "read",
  effect: "read",
  selectable: true,
  brief: (run, { workflow_id }) =>
    omit(run, [
      ...FEW_NEED,
      ...(run["workflow_id"] === workflow_id ? ["workflow_id"] : []),
      ...(run["error"] === null ? ["error"] : []),
    ]),
  readsValues: true,
  errors: ["workflow_not_found", "project_not_found", "invalid_cursor"],
  page: { item: RunSummary, mcpLimit: MCP_PAGE_SIZE, alwaysPaged: isSearch },
  input: z.strictObject({
    workflow_id: WorkflowIdRef.optional().meta({
      description: "Only of this workflow.",
      example: "weekly-revenue",
    }),
    project: ProjectFilter,
    ...runFilter,
  }),
  output: pageOf(RunSummary),
  async run({ workflow_id, ...options }, ctx) {
    await assertProjectFilter(ctx, options.project);
    if (workflow_id !== undefined) await findWorkflow(ctx.read.workflows, workflow_id);
    return runPage(ctx, "list_runs", { workflow_id, ...options });
  },
});

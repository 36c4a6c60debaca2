import { z } from "zod";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { WorkflowIdRef, WorkflowVersion } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";

export const listWorkflowVersions = defineTool({
  name: "list_workflow_versions",
  title: "List a workflow's versions",
  description:
    "Lists a workflow's versions, newest first: who changed what, when, through which client and key, and why. " +
    "get_workflow_version returns one with its definition.",
  route: "GET /workflows/:workflow_id/versions",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["workflow_not_found", "invalid_cursor"],
  page: {
    item: WorkflowVersion,
    mcpLimit: 20,
    alwaysPaged: ({ include }) => include.includes("definition"),
  },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    include: z
      .array(z.enum(["definition"]))
      .max(1)
      .default([])
      .meta({ description: "What to add to each version.", example: ["definition"] }),
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(WorkflowVersion),
  async run({ workflow_id, include, limit, cursor }, ctx) {
    const query = JSON.stringify(["list_workflow_versions", workflow_id]);
    const before = cursor === undefined ? null : Number(ctx.cursors.decode(query, cursor)[0]);
    // Versions are numbered from 1 without gaps, so the newest is also the total.
    const { id, version: total } = await findWorkflow(ctx.read.workflows, workflow_id);
    const items = await ctx.read.workflows.versions({
      id,
      before,
      limit: limit ?? listWorkflowVersions.page!.mcpLimit,
      withDefinition: include.includes("definition"),
    });
    const last = items.at(-1)?.version ?? 1;
    return {
      items,
      total,
      next_cursor: last > 1 ? ctx.cursors.encode(query, [String(last), id]) : null,
    };
  },
});

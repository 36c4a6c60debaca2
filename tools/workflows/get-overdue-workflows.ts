import { z } from "zod";
import { type OverdueWorkflow, OverdueWorkflows } from "../../schemas/overdue.ts";
import { ProjectFilter, projectField } from "../../schemas/project.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import type { ExpectationReader } from "../../src/core/subscription-ports.ts";
import { defineTool } from "../../src/core/tool.ts";
import { assertProjectFilter } from "../projects/find-project.ts";

/** Maximum number of workflows in the list. */
const MAX_ITEMS = 200;

export const getOverdueWorkflows = defineTool({
  name: "get_overdue_workflows",
  title: "Get overdue workflows",
  description:
    "Returns the published workflows that have not succeeded within the time that must_succeed says, the longest overdue first; at most 200.",
  route: "GET /overdue-workflows",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["project_not_found"],
  input: z.strictObject({
    workflow_id: WorkflowIdRef.optional().meta({
      description: "Only this workflow.",
      example: "nightly-sync",
    }),
    project: ProjectFilter,
  }),
  output: OverdueWorkflows,
  async run({ workflow_id: workflowId, project }, ctx) {
    await assertProjectFilter(ctx, project);
    const found = await ctx.read.expectations.overdue({ workflowId, project }, MAX_ITEMS);
    return { items: found.map(serialize) };
  },
});

const serialize = (item: Awaited<ReturnType<ExpectationReader["overdue"]>>[number]): OverdueWorkflow => ({
  workflow_id: item.workflowId,
  name: item.name,
  ...projectField(item.project),
  every: item.every,
  due_at: item.dueAt,
  overdue_since: item.overdueSince!,
  succeeded_at: item.succeededAt,
});

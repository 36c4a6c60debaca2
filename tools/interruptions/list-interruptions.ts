import { z } from "zod";
import { Interruption } from "../../schemas/interruption.ts";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { ProjectFilter } from "../../schemas/project.ts";
import { RunId } from "../../schemas/run.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { assertProjectFilter } from "../projects/find-project.ts";
import { toInterruption } from "./serialize-interruption.ts";

export const listInterruptions = defineTool({
  name: "list_interruptions",
  title: "List interruptions",
  description:
    "Lists attempts with effects that ended without an answer, newest first: whether their effects happened is not known until " +
    "settle_interruption or a lookup has settled them.",
  route: "GET /interruptions",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["workflow_not_found", "project_not_found", "invalid_cursor"],
  page: { item: Interruption, mcpLimit: 20 },
  input: z.strictObject({
    status: z
      .enum(["open", "settled", "all"])
      .default("open")
      .meta({ description: "`open`: those that nobody has settled.", example: "open" }),
    run_id: RunId.optional().meta({ description: "Only of this run.", example: "run_8dkq2m0sfj3a" }),
    workflow_id: WorkflowIdRef.optional().meta({
      description: "Only of this workflow.",
      example: "weekly-payout",
    }),
    project: ProjectFilter,
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(Interruption),
  async run({ status, run_id: runId, workflow_id, project, limit, cursor }, ctx) {
    await assertProjectFilter(ctx, project);
    const workflowId =
      workflow_id === undefined ? undefined : (await findWorkflow(ctx.read.workflows, workflow_id)).id;
    const isOpen = status === "all" ? undefined : status === "open";
    const filter = { isOpen, runId, workflowId, project };
    const query = JSON.stringify(["list_interruptions", filter]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const pageSize = limit ?? listInterruptions.page!.mcpLimit;
    const { items, next } = await ctx.read.interruptions.page({ filter, after, limit: pageSize });
    return {
      items: await Promise.all(items.map((item) => toInterruption(ctx.read, item))),
      ...(await ctx.total(() => ctx.read.interruptions.count(filter))),
      next_cursor: next && ctx.cursors.encode(query, next),
    };
  },
});

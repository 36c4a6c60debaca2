import { z } from "zod";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { Approval } from "../../schemas/approval.ts";
import { ProjectFilter } from "../../schemas/project.ts";
import { ApprovalStatus, RunId } from "../../schemas/run.ts";
import { defineTool } from "../../src/core/tool.ts";
import { assertProjectFilter } from "../projects/find-project.ts";
import { serializeApproval, withStanding } from "./serialize-approval.ts";

export const listApprovals = defineTool({
  name: "list_approvals",
  title: "List approvals",
  description: "Lists approvals that runs wait for, newest first; with run_id also what can run after each.",
  route: "GET /approvals",
  scope: "read",
  effect: "read",
  readsValues: true,
  errors: ["project_not_found", "invalid_cursor"],
  page: { item: Approval, mcpLimit: 20 },
  input: z.strictObject({
    status: ApprovalStatus.default("pending"),
    run_id: RunId.optional().meta({ description: "Only of this run.", example: "run_8dkq2m0sfj3a" }),
    project: ProjectFilter,
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(Approval),
  async run({ status, run_id: runId, project, limit, cursor }, ctx) {
    await assertProjectFilter(ctx, project);
    const filter = { status, runId, project };
    const query = JSON.stringify(["list_approvals", filter]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const pageSize = limit ?? listApprovals.page!.mcpLimit;
    const { items, next } = await ctx.read.approvals.page({ filter, after, limit: pageSize });
    return {
      // The plans of all approvals would be long, and are needed only for one run at a time.
      items:
        runId === undefined
          ? items.map((approval) => serializeApproval(approval))
          : await Promise.all(items.map((approval) => withStanding(ctx, approval))),
      ...(await ctx.total(() => ctx.read.approvals.count(filter))),
      next_cursor: next && ctx.cursors.encode(query, next),
    };
  },
});

import { z } from "zod";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { Approval, ForMe } from "../../schemas/approval.ts";
import { ProjectFilter } from "../../schemas/project.ts";
import { RunId } from "../../schemas/run.ts";
import { ApprovalStatus } from "../../schemas/run-status.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { defineTool } from "../../src/core/tool.ts";
import { assertProjectFilter } from "../projects/find-project.ts";
import { approvalsForCaller, countForCaller, MAX_COUNTED } from "./for-caller.ts";
import { serializeApproval, serializeStanding, withStanding } from "./serialize-approval.ts";

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
    for_me: ForMe.optional(),
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(Approval),
  async run({ status, run_id: runId, project, for_me: forMe, limit, cursor }, ctx) {
    await assertProjectFilter(ctx, project);
    const filter = { status, runId, project };
    if (forMe !== undefined && status !== "pending") throw onlyPending(status);
    const query = JSON.stringify(["list_approvals", filter, ...(forMe === undefined ? [] : [forMe])]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const pageSize = limit ?? listApprovals.page!.mcpLimit;
    if (forMe !== undefined) {
      const found = await approvalsForCaller(ctx, forMe, { filter, after, limit: pageSize });
      const count = () => countForCaller(ctx, forMe, filter);
      return {
        items: found.items.map((standing) => serializeStanding(standing, { plan: true })),
        ...(await ctx.total(count, forMe === "all" ? undefined : MAX_COUNTED)),
        next_cursor: found.next && ctx.cursors.encode(query, found.next),
      };
    }
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

const onlyPending = (status: string) =>
  invalidInput([
    {
      path: "for_me",
      code: "not_allowed",
      message: `is only for pending approvals, not for those that are ${status}`,
      fix: "Leave it out, or ask for pending ones.",
    },
  ]);

import { z } from "zod";
import { Approval, ApprovalId } from "../../schemas/approval.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findApproval, withStanding } from "./serialize-approval.ts";

export const getApproval = defineTool({
  name: "get_approval",
  title: "Get an approval",
  description:
    "Returns one approval: the question, its run, what can still run after it, whether you can decide, and the decisions.",
  route: "GET /approvals/:approval_id",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  readsValues: true,
  errors: ["approval_not_found"],
  input: z.strictObject({ approval_id: ApprovalId }),
  output: Approval,
  run: async ({ approval_id }, ctx) => withStanding(ctx, await findApproval(ctx.read.approvals, approval_id)),
});

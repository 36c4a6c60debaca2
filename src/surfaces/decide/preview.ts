/** What somebody who has not signed in sees before deciding, and why they can't decide, if so. */
import { z } from "zod";
import { ApprovalId } from "../../../schemas/approval.ts";
import type { RemainingWork } from "../../core/engine-port.ts";
import type { AppError } from "../../core/errors.ts";
import type { ApprovalRecord, RunRecord } from "../../core/model.ts";
import { defineTool } from "../../core/tool.ts";
import { findApproval, hasPlanChanged } from "../../../tools/approvals/serialize-approval.ts";
import { standingOf } from "../../../tools/approvals/standing.ts";

/** An approval as the page of a link shows it. */
export interface DecisionPreview {
  approval: ApprovalRecord;
  run: RunRecord;
  remaining: RemainingWork;
  /** Whether it differs from what the approval was asked for. */
  planChanged: boolean;
  /** Why the caller can't decide; null if they can. */
  refusal: AppError | null;
}

/** Not in the catalogue: only the pages for people without an account call it. */
export const previewDecision = defineTool({
  name: "preview_decision",
  title: "Preview a decision",
  description: "Returns an approval with what can still run after it, and whether the caller can decide it.",
  route: "GET /approvals/:approval_id/preview",
  surfaces: [],
  scope: "approve",
  effect: "read",
  readsValues: true,
  errors: ["approval_not_found"],
  input: z.strictObject({ approval_id: ApprovalId }),
  output: z.custom<DecisionPreview>(),
  async run({ approval_id }, ctx) {
    const approval = await findApproval(ctx.read.approvals, approval_id);
    const { run, remaining, refusal = null } = await standingOf(ctx, ctx.read, ctx.actor.principal, approval);
    return { approval, run, remaining, planChanged: hasPlanChanged(approval, remaining.levels), refusal };
  },
});

import { z } from "zod";
import { Approval, ApprovalId, PlanDigest } from "../../schemas/approval.ts";
import { RunInputs } from "../../schemas/run.ts";
import type { Issue } from "../../schemas/problem.ts";
import { visible } from "../../schemas/text.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import { formatPath, invalidInput } from "../../src/core/issues.ts";
import type { RemainingWork } from "../../src/core/engine-port.ts";
import { AppError } from "../../src/core/errors.ts";
import { formatPlan } from "../../src/core/format-plan.ts";
import type { ApprovalRecord } from "../../src/core/model.ts";
import { callContextOf, defineTool, type ToolContext } from "../../src/core/tool.ts";
import type { Validated } from "../../src/core/validation.ts";
import { deciderName } from "./decider-name.ts";
import { decisionQuestion } from "./decision-question.ts";
import { decidedError, findDecidable } from "./find-decidable.ts";
import { findApproval, hasPlanChanged, serializeApproval } from "./serialize-approval.ts";

export const decideApproval = defineTool({
  name: "decide_approval",
  title: "Decide an approval",
  description:
    "Approves or declines an approval that a run waits for; the first decision is final, and the run continues either way. " +
    "Send only what the person you act for has decided. Without decision, that person is asked, if your client supports it. " +
    "With assignees only they can decide. Who started the run or wrote what it runs can't, unless the operator allows it.",
  route: "POST /approvals/:approval_id",
  scope: "approve",
  effect: "act",
  readsValues: true,
  errors: [
    "approval_not_found",
    "approval_decided",
    "approval_expired",
    "approval_plan_changed",
    "approval_not_yours",
    "idempotency_key_reused",
  ],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    approval_id: ApprovalId,
    decision: z.enum(["approve", "decline"]).optional().meta({
      description: "The decision. Left out over MCP: the person is asked, with the form.",
      example: "approve",
    }),
    comment: visible("lines", 2_000)
      .nullable()
      .default(null)
      .meta({ description: "The reason; the run can read it.", example: "Right." }),
    form: RunInputs.optional().meta({
      description: "The filled-in form, when approving.",
      example: { amount: 100 },
    }),
    plan_digest: PlanDigest.optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Approval,
  async elicitation({ approval_id, decision }, ctx) {
    return decision === undefined
      ? decisionQuestion(await findDecidable(ctx, ctx.read, approval_id))
      : undefined;
  },
  async run({ approval_id, decision, comment, form, plan_digest }, ctx) {
    if (decision === undefined) throw missingDecision();
    // Outside of the transaction, because it may take long. The schema of an approval never changes.
    const parsedForm = decision === "approve" ? await parseForm(ctx, approval_id, form) : undefined;
    const decided = await ctx.write(async (tx) => {
      const now = ctx.now();
      const { approval, remaining } = await findDecidable(ctx, tx, approval_id);
      assertPlan(approval, remaining, plan_digest);
      const answer = {
        status: decision === "approve" ? ("approved" as const) : ("declined" as const),
        decidedAt: iso(now),
        decidedBy: deciderName(ctx.actor.principal),
        comment,
        answer: parsedForm === undefined ? refuseForm(form) : formValue(parsedForm),
        plan: remaining.levels,
      };
      if (!(await ctx.engine.recordDecision(tx, approval, answer))) {
        throw decidedError(await findApproval(tx.approvals, approval.id));
      }
      await tx.recordAudit(approval.id);
      return serializeApproval({ ...approval, ...answer });
    });
    ctx.engine.wake();
    return decided;
  },
});

/**
 * A decision is for what the approval was asked for, or for the plan that the client says it has seen.
 * @throws AppError approval_plan_changed
 */
function assertPlan(approval: ApprovalRecord, remaining: RemainingWork, digest: string | undefined): void {
  const holds =
    digest === undefined ? !hasPlanChanged(approval, remaining.levels) : digest === remaining.digest;
  if (holds) return;
  throw new AppError(
    "approval_plan_changed",
    `What can run after ${approval.id} has changed since ${digest === undefined ? "it was asked" : "you read it"}, such as ` +
      "the configuration of a database, so nothing was decided. " +
      `${formatPlan(approval.id, remaining.workflows)}\n` +
      `To decide on this, send plan_digest: "${remaining.digest}" (plan.digest of GET /approvals/${approval.id}).`,
    {
      errors: [
        {
          path: "plan_digest",
          code: "plan_changed",
          message: "is not the plan any more",
          allowed: [remaining.digest],
          fix: "Show the new plan to the person who decides, then send its digest.",
        },
      ],
    },
  );
}

const missingDecision = () =>
  invalidInput([
    {
      path: "decision",
      code: "missing",
      message: "is missing",
      allowed: ["approve", "decline"],
      fix: "Ask the person, then send approve or decline. Over MCP, a client with elicitation may leave it out.",
    },
  ]);

type ParsedForm = Validated<Record<string, unknown> | null>;

/** Validates the filled-in form against the approval's schema, and completes it with defaults. */
async function parseForm(
  ctx: ToolContext,
  id: string,
  form: Record<string, unknown> | undefined,
): Promise<ParsedForm> {
  const schema = (await ctx.read.approvals.find(id))?.form ?? null;
  if (schema === null) return form === undefined ? { value: null } : { issues: [NO_FORM] };
  return ctx.engine.validation.parseInputs(schema, form ?? {}, callContextOf(ctx));
}

const NO_FORM = {
  code: "not_allowed",
  message: "is not allowed: this approval has no form",
  fix: "Leave it out.",
};

function formValue(parsed: ParsedForm): Record<string, unknown> | null {
  if ("value" in parsed) return parsed.value;
  throw invalidInput(
    parsed.issues.map(({ path = [], ...issue }): Issue =>
      Object.assign({ path: formatPath(["form", ...path]) }, issue),
    ),
  );
}

function refuseForm(form: Record<string, unknown> | undefined): null {
  if (form === undefined) return null;
  throw invalidInput([{ ...NO_FORM, path: "form", message: "is not allowed when declining" }]);
}

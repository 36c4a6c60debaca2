import { z } from "zod";
import { Approval, ApprovalId, PlanDigest } from "../../schemas/approval.ts";
import { RunInputs } from "../../schemas/run.ts";
import { visible } from "../../schemas/text.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { callContextOf, defineTool } from "../../src/core/tool.ts";
import { decideAs, parseForm } from "./decide.ts";
import { decisionQuestion } from "./decision-question.ts";
import { findDecidable } from "./find-decidable.ts";
import { serializeStanding } from "./serialize-approval.ts";

export const decideApproval = defineTool({
  name: "decide_approval",
  title: "Decide an approval",
  description:
    "Approves or declines an approval that a run waits for. The run continues either way, with `required` once enough people have decided. " +
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
    override: z.boolean().default(false).meta({
      description: "A signed-in admin decides in place of the assignees; it is recorded.",
      example: false,
    }),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Approval,
  async elicitation({ approval_id, decision }, ctx) {
    return decision === undefined
      ? decisionQuestion(
          await findDecidable(ctx, ctx.read, {
            decider: ctx.actor.principal,
            id: approval_id,
            override: false,
          }),
        )
      : undefined;
  },
  async run({ approval_id, decision, comment, form, plan_digest, override }, ctx) {
    if (decision === undefined) throw missingDecision();
    const call = { ...callContextOf(ctx), asWritten: ctx.actor.client.surface === "mcp" };
    const parsedForm = decision === "approve" ? await parseForm(ctx, call, approval_id, form) : undefined;
    const decided = await ctx.write(async (tx) =>
      serializeStanding(
        await decideAs(ctx, tx, ctx.actor.principal, {
          id: approval_id,
          decision,
          comment,
          form,
          parsedForm,
          planDigest: plan_digest,
          override,
        }),
        { plan: false },
      ),
    );
    ctx.engine.wake();
    return decided;
  },
});

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

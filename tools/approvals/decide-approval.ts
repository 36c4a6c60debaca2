import { z } from "zod";
import { OPERATOR } from "../../schemas/actor.ts";
import { Approval, ApprovalId, RunInputs } from "../../schemas/run.ts";
import type { Issue } from "../../schemas/problem.ts";
import { text } from "../../schemas/text.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { formatPath, invalidInput } from "../../src/core/issues.ts";
import type { Principal } from "../../src/core/ports.ts";
import type { ApprovalReader, ApprovalRecord, RunActor, RunReader } from "../../src/core/run-ports.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { inputsValidator } from "../../src/core/json-schema/index.ts";
import { decisionQuestion } from "./decision-question.ts";
import { findApproval, serializeApproval } from "./serialize-approval.ts";

export const decideApproval = defineTool({
  name: "decide_approval",
  title: "Decide an approval",
  description:
    "Approves or declines what a run waits for; the first decision counts, and the run goes on either way. Decide only " +
    "what the person you act for has decided; without decision that person is asked, where your client can do that. Who started the run can't decide it, unless the operator allows that.",
  route: "POST /approvals/:approval_id",
  scope: "approve",
  effect: "act",
  errors: ["approval_not_found", "approval_decided", "approval_not_yours", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    approval_id: ApprovalId,
    decision: z.enum(["approve", "decline"]).optional().meta({
      description: "What was decided. Left out over MCP: the person is asked, with the form.",
      example: "approve",
    }),
    comment: text(2_000)
      .nullable()
      .default(null)
      .meta({ description: "Why; the run can read it.", example: "Right." }),
    form: RunInputs.optional().meta({
      description: "What the approval's form asks for, when approving.",
      example: { amount: 100 },
    }),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Approval,
  async elicitation({ approval_id, decision }, ctx) {
    return decision === undefined ? decisionQuestion(await decidable(ctx, ctx.read, approval_id)) : undefined;
  },
  async run({ approval_id, decision, comment, form }, ctx) {
    if (decision === undefined) throw undecided();
    const decided = await ctx.write(async (tx) => {
      const now = ctx.now();
      const approval = await decidable(ctx, tx, approval_id);
      const answer = {
        status: decision === "approve" ? ("approved" as const) : ("declined" as const),
        decidedAt: iso(now),
        decidedBy: nameOf(ctx.actor.principal),
        comment,
        answer: decision === "approve" ? filledIn(approval, form) : unfilled(form),
      };
      if (!(await ctx.engine.recordDecision(tx, approval, answer))) {
        throw isDecided(await findApproval(tx.approvals, approval.id));
      }
      await tx.recordAudit(approval.id);
      return serializeApproval({ ...approval, ...answer });
    });
    ctx.engine.wake();
    return decided;
  },
});

/**
 * Finds an approval that this caller may decide now.
 * @throws AppError approval_not_found, approval_not_yours, approval_decided
 */
async function decidable(
  ctx: ToolContext,
  { approvals, runs }: { approvals: Pick<ApprovalReader, "find">; runs: Pick<RunReader, "find"> },
  id: string,
): Promise<ApprovalRecord> {
  const approval = await findApproval(approvals, id);
  const run = (await runs.find(approval.runId))!;
  if (!ctx.engine.policy.approvalsByStarter && isStarter(ctx.actor.principal, run.actor))
    throw notYours(approval);
  if (approval.status !== "pending" || isLate(approval, ctx.now())) throw isDecided(approval);
  return approval;
}

const undecided = () =>
  invalidInput([
    {
      path: "decision",
      code: "missing",
      message: "is missing",
      allowed: ["approve", "decline"],
      fix: "Ask the person, then send approve or decline. (Over MCP a client with elicitation may leave it out.)",
    },
  ]);

const isStarter = (principal: Principal, starter: RunActor): boolean =>
  principal.owner === starter.owner &&
  (principal.owner !== OPERATOR || principal.lineage === starter.lineage);

const isLate = ({ expiresAt }: ApprovalRecord, now: number): boolean =>
  expiresAt !== null && expiresAt <= iso(now);

const notYours = ({ id, runId }: ApprovalRecord): AppError =>
  new AppError(
    "approval_not_yours",
    `You started the run ${runId}, so somebody else must decide ${id}: another person, or another key with the scope ` +
      '"approve". (The operator can allow it: approvals.by_starter in the configuration.)',
  );

/** Keys made on the command line all belong to the operator: there the key says who it was. */
const nameOf = ({ owner, keyName }: Principal): string =>
  owner === OPERATOR ? `${owner} (${keyName})` : owner;

function isDecided({ id, status, decidedAt, decidedBy, expiresAt, runId }: ApprovalRecord): AppError {
  const next = `The run's own way on: get_run (GET /runs/${runId}).`;
  const what =
    status === "cancelled"
      ? `${id} is not waiting any more: its run was stopped.`
      : status === "expired" || status === "pending"
        ? `${id} expired at ${expiresAt ?? decidedAt}: nobody decided in time. retry_run (POST /runs/${runId}/retry) asks again.`
        : `${id} was ${status} already, by ${decidedBy} at ${decidedAt}; the first decision counts.`;
  return new AppError("approval_decided", `${what} ${next}`);
}

/** The form, checked against the approval's own schema and with its defaults. */
function filledIn({ form: schema }: ApprovalRecord, given: Record<string, unknown> | undefined) {
  if (schema === null) return unfilled(given, "asks for nothing");
  const parsed = inputsValidator(schema).parse(given ?? {});
  if ("value" in parsed) return parsed.value;
  throw invalidInput(
    parsed.issues.map(({ path = [], ...issue }): Issue =>
      Object.assign({ path: formatPath(["form", ...path]) }, issue),
    ),
  );
}

function unfilled(
  given: Record<string, unknown> | undefined,
  why = "is filled in when approving only",
): null {
  if (given === undefined) return null;
  throw invalidInput([{ path: "form", code: "not_allowed", message: `${why}: leave it out` }]);
}

import { z } from "zod";
import { Approval, ApprovalId, RunInputs } from "../../schemas/run.ts";
import { text } from "../../schemas/text.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { dotted, invalidInput } from "../../src/core/faults.ts";
import type { Principal } from "../../src/core/ports.ts";
import type { ApprovalRecord, RunActor } from "../../src/core/run-ports.ts";
import { defineTool } from "../../src/core/tool.ts";
import { inputsValidator } from "../../src/core/json-schema/index.ts";
import { findApproval, showApproval } from "./show-approval.ts";

/** Whom keys belong to that were made on the command line: many hands, told apart by their keys alone. */
const SHARED_OWNER = "operator";

export const decideApproval = defineTool({
  name: "decide_approval",
  title: "Decide an approval",
  description:
    "Approves or declines what a run waits for; the first decision counts, and the run goes on either way. Decide only " +
    "what the person you act for has decided. Who started the run can't decide it, unless the operator allows that.",
  route: "POST /approvals/:approval_id",
  scope: "approve",
  effect: "act",
  errors: ["approval_not_found", "approval_decided", "approval_not_yours", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    approval_id: ApprovalId,
    decision: z.enum(["approve", "decline"]).meta({ description: "What was decided.", example: "approve" }),
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
  async run({ approval_id, decision, comment, form }, ctx) {
    const decided = await ctx.write(async (tx) => {
      const approval = await findApproval(tx.approvals, approval_id);
      const run = (await tx.runs.find(approval.runId))!;
      const { principal } = ctx.actor;
      if (!ctx.engine.policy.approvalsByStarter && isStarter(principal, run.actor)) throw notYours(approval);
      const now = ctx.now();
      if (approval.status !== "pending" || isLate(approval, now)) throw isDecided(approval);
      const answer = {
        status: decision === "approve" ? ("approved" as const) : ("declined" as const),
        decidedAt: iso(now),
        decidedBy: principal.owner,
        comment,
        answer: decision === "approve" ? filledIn(approval, form) : unfilled(form),
      };
      await tx.approvals.decide(approval.id, answer);
      const { runId, stepId, item } = approval;
      const job = {
        kind: "decided",
        priority: run.priority,
        dueAt: null,
        resource: null,
        attempt: 1,
        tries: 1,
      } as const;
      await tx.jobs.add({ ...job, runId, stepId, item });
      await tx.audited(approval.id);
      return showApproval({ ...approval, ...answer });
    });
    ctx.engine.ring();
    return decided;
  },
});

const isStarter = (principal: Principal, starter: RunActor): boolean =>
  principal.owner === starter.owner &&
  (principal.owner !== SHARED_OWNER || principal.lineage === starter.lineage);

const isLate = ({ expiresAt }: ApprovalRecord, now: number): boolean =>
  expiresAt !== null && expiresAt <= iso(now);

const notYours = ({ id, runId }: ApprovalRecord): AppError =>
  new AppError(
    "approval_not_yours",
    `You started the run ${runId}, so somebody else must decide ${id}: another person, or another key with the scope ` +
      '"approve". (The operator can allow it: approvals.by_starter in the configuration.)',
  );

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
    parsed.faults.map(({ path = [], ...fault }) => ({ ...fault, path: dotted(["form", ...path]) })),
  );
}

function unfilled(
  given: Record<string, unknown> | undefined,
  why = "is filled in when approving only",
): null {
  if (given === undefined) return null;
  throw invalidInput([{ path: "form", code: "not_allowed", message: `${why}: leave it out` }]);
}

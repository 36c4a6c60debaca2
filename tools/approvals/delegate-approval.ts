import { z } from "zod";
import { Approval, ApprovalId } from "../../schemas/approval.ts";
import { MAX_DELEGATIONS } from "../../schemas/approval-rules.ts";
import { visible } from "../../schemas/text.ts";
import { Email, ROLE_SCOPES } from "../../schemas/user.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { scopesIn } from "../../src/core/access.ts";
import { assignmentOf, type Assignment, seatsOf } from "../../src/core/approval-assignment.ts";
import { roleOfPerson } from "../../src/core/approval-people.ts";
import { isOwnWork } from "../../src/core/authored-work.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { samePerson } from "../../src/core/mailbox.ts";
import type { Principal, Writers } from "../../src/core/ports.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { lockApproval } from "./decide.ts";
import { findDecidable } from "./find-decidable.ts";
import { findApproval, serializeStanding } from "./serialize-approval.ts";
import { personId, type Standing, standingOf } from "./standing.ts";

export const delegateApproval = defineTool({
  name: "delegate_approval",
  title: "Pass an approval on",
  description:
    "Passes a pending approval that is assigned to you on to another person, who gets a mail and decides in your place: from then " +
    "on you can't, until they pass it back. Only who may decide can pass on, and only to somebody who may. " +
    "A signed-in admin can do it for an assignee (`from`).",
  route: "POST /approvals/:approval_id/delegate",
  surfaces: ["rest"],
  scope: "approve",
  effect: "act",
  readsValues: true,
  errors: [
    "approval_not_found",
    "approval_decided",
    "approval_expired",
    "approval_not_yours",
    "idempotency_key_reused",
  ],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    approval_id: ApprovalId,
    to: Email.meta({ description: "The address of the person who decides from now on." }),
    note: visible("lines", 1_000)
      .nullable()
      .default(null)
      .meta({ description: "What the person should know.", example: "I am travelling." }),
    from: Email.optional().meta({
      description: "For an admin: the assignee whose place it is. Default: your own.",
    }),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Approval,
  async run({ approval_id, to, note, from }, ctx) {
    const passed = await ctx.write(async (tx) => {
      await lockApproval(tx, approval_id);
      const standing = await findDecidable(ctx, tx, {
        decider: ctx.actor.principal,
        id: approval_id,
        override: from !== undefined,
        operation: "delegate_approval",
      });
      const { approval } = standing;
      const by = fromWhom(ctx.actor.principal, standing, from);
      await assertCanTake(ctx, tx, standing, { by, to });
      await ctx.engine.notifyAssignees(tx, approval, {
        kind: "delegated",
        at: iso(ctx.now()),
        by,
        to: [to],
        note,
      });
      await tx.recordAudit(approval_id, undefined, {
        details: { from: by, to, ...(from !== undefined && { override: true }) },
      });
      const after = await findApproval(tx.approvals, approval_id);
      return serializeStanding(await standingOf(ctx, tx, ctx.actor.principal, after), { plan: false });
    });
    ctx.engine.wake();
    return passed;
  },
});

/** Whose place is passed on. @throws AppError approval_not_yours, invalid_input */
function fromWhom(
  { kind, access, owner, lineage }: Principal,
  { approval, run, right }: Standing,
  from: string | undefined,
): string {
  const assignment = assignmentOf(approval);
  const { id } = approval;
  if (assignment.open)
    throw new AppError(
      "approval_not_yours",
      `${id} is assigned to nobody, so everybody with the scope approve can decide it. There is nothing to pass on.`,
    );
  if (from !== undefined) {
    if (kind === "key" || !scopesIn(access, run.project).has("admin"))
      throw new AppError("approval_not_yours", `Only a signed-in admin can pass on ${id} for ${from}.`);
    if (![...assignment.holders.values()].includes(from))
      throw invalidInput([
        {
          path: "from",
          code: "not_allowed",
          message: `is not an assignee of ${id}`,
          allowed: [...new Set(assignment.holders.values())],
          fix: "Write the address of a person that it is assigned to now.",
        },
      ]);
    return from;
  }
  if (right?.seat.by === "absence")
    throw new AppError(
      "approval_not_yours",
      `You stand in for ${right.seat.of}, so you can decide ${id} but not pass it on.`,
    );
  return personId({ owner, lineage });
}

const refuse = (message: string, fix: string): never => {
  throw invalidInput([{ path: "to", code: "not_allowed", message, fix }]);
};

/** @throws AppError invalid_input when the other person may not decide, or would decide anyway */
async function assertCanTake(
  { engine: { policy } }: ToolContext,
  tx: Writers,
  { approval, run, remaining }: Standing,
  { by, to }: { by: string; to: string },
): Promise<void> {
  const read = unscoped(tx);
  const another = "Choose another person.";
  if (samePerson(to, by)) refuse("is who passes it on", another);
  const role = await roleOfPerson(read, to, run.project);
  if (role === null || !ROLE_SCOPES[role].includes("approve"))
    refuse(
      `is not the address of somebody who can decide approvals in the project "${run.project}"`,
      "Choose an active user who is an editor or an admin there.",
    );
  const assignment: Assignment = assignmentOf(approval);
  if (seatsOf(assignment, { id: to, role }).length > 0)
    refuse(`can decide ${approval.id} already`, "Ask them, or choose another person.");
  if (
    approval.decisions.some(
      ({ person, planDigest }) => samePerson(person, to) && planDigest === remaining.digest,
    )
  )
    refuse(`has decided ${approval.id} already, and each person decides once`, another);
  if (await isOwnWork(policy, read, to, run, remaining))
    refuse("started the run, or wrote or published what it runs, and so may not decide", another);
  if (approval.events.filter(({ kind }) => kind === "delegated").length >= MAX_DELEGATIONS)
    refuse(
      `can't get it: ${approval.id} has been passed on ${MAX_DELEGATIONS} times`,
      "Decide it, or let an admin decide.",
    );
}

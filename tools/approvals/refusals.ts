/** Why somebody may not decide an approval, each with what to do. */
import type { Scope } from "../../schemas/actor.ts";
import { type Assignment, currentAssignees } from "../../src/core/approval-assignment.ts";
import type { AuthoredWork } from "../../src/core/authored-work.ts";
import type { PersonDecision } from "../../src/core/approval-rules.ts";
import { AppError } from "../../src/core/errors.ts";
import type { ApprovalRecord } from "../../src/core/model.ts";
import type { PersonalCause } from "../../src/core/run-causes.ts";

function notAssigned(approval: ApprovalRecord, assignment: Assignment, person: string): AppError {
  const { id, assignees } = approval;
  const holder = assignment.holders.get(person);
  if (holder !== undefined && holder !== person)
    return new AppError(
      "approval_not_yours",
      `You passed ${id} on to ${holder}, who decides it now. They can pass it back to you.`,
    );
  const isChanged = approval.events.some(({ kind }) => kind === "escalated" || kind === "delegated");
  const now = isChanged ? currentAssignees(assignment) : assignees;
  return new AppError(
    "approval_not_yours",
    `${id} is assigned to ${now.join(", ")}. Only they can decide it, signed in or with a key of their own; ` +
      "a signed-in admin can decide in their place, with override.",
  );
}

/** @param scopes those of the caller in the project */
const mayNotApprove = ({ id }: ApprovalRecord, project: string, scopes: ReadonlySet<Scope>): AppError =>
  new AppError(
    "approval_not_yours",
    scopes.has("approve")
      ? `Your key is limited to other operations than decide_approval, so you can read ${id} but not decide it. Use another key.`
      : `Your key or role does not have the scope "approve" in the project "${project}", so you can read ${id} but not decide it. ` +
          "Use another key, or ask an admin for the role editor there.",
  );

const overrideNeeded = (approval: ApprovalRecord, assignees: readonly string[]): AppError =>
  new AppError(
    "approval_not_yours",
    `${approval.id} is assigned to ${assignees.join(", ")}. As an admin you can decide in their place: send override: true. ` +
      "It is recorded as your override, and counts as the decision of one person.",
  );

const startedByCaller = ({ id, runId }: ApprovalRecord, { kind, by }: PersonalCause): AppError =>
  new AppError(
    "approval_not_yours",
    `You ${
      kind === "redelivered"
        ? `delivered again what started the run ${runId} (${by})`
        : kind === "settled"
          ? `said what an interrupted step of the run ${runId} returned (${by})`
          : by === runId
            ? `started the run ${runId}`
            : `started the run ${by}, which ${runId} repeats (who starts a new one is its only starter)`
    }, so somebody else must decide ${id}: another user, or another key with the scope ` +
      '"approve". The operator can allow it with approvals.by_starter in the configuration.',
  );

function authoredByCaller({ id }: ApprovalRecord, work: AuthoredWork): AppError {
  const who =
    `so somebody else must decide ${id}: another user, or another key with the scope "approve". ` +
    "The operator can allow it with approvals.by_author in the configuration.";
  if (work.kind === "patched")
    return new AppError(
      "approval_not_yours",
      `You changed the definition that this run follows, with the retry ${work.runId}, ${who}`,
    );
  if (work.kind === "step")
    return new AppError(
      "approval_not_yours",
      `You wrote the step that the run ${work.runId} executes, ${who}`,
    );
  const { kind, version, workflowId } = work;
  return new AppError(
    "approval_not_yours",
    `You ${kind} version ${version} of "${workflowId}", which takes part in this run, and nobody else has published it ` +
      `since, ${who} Or another person reviews the version that runs and publishes it ` +
      `(POST /workflows/${workflowId}/publish); then you can decide.`,
  );
}

const verb = ({ approved }: Pick<PersonDecision, "approved">): string => (approved ? "approved" : "declined");

const decidedByCaller = (
  { id, rules }: ApprovalRecord,
  own: PersonDecision,
  counted: readonly PersonDecision[],
): AppError =>
  new AppError(
    "approval_decided",
    `You ${verb(own)} ${id} at ${own.decidedAt}, and each person decides once. ` +
      `${counted.filter(({ approved }) => approved).length} of ${rules.required} people have approved.`,
  );

const seatTaken = ({ id }: ApprovalRecord, { name, seat, approved, decidedAt }: PersonDecision): AppError =>
  new AppError(
    "approval_decided",
    name === seat
      ? `${seat} ${verb({ approved })} ${id} at ${decidedAt}, so you can't decide it in their place.`
      : `${name} ${verb({ approved })} ${id} at ${decidedAt} in the place of ${seat}, so nobody else can in that place.`,
  );

const absentMayNot = ({ id }: ApprovalRecord, absent: string): AppError =>
  new AppError(
    "approval_not_yours",
    `You stand in for ${absent}, who may not decide ${id}: ${absent} started the run, or wrote or published what it runs. ` +
      "Somebody who is assigned in their own right must decide it.",
  );

const expired = ({ id, runId }: ApprovalRecord, deadline: string): AppError =>
  new AppError(
    "approval_expired",
    `${id} expired at ${deadline}: nobody decided in time. retry_run (POST /runs/${runId}/retry) asks again. ${showRun(runId)}`,
  );

const showRun = (runId: string): string => `get_run (GET /runs/${runId}) shows the run.`;

/** The error for an approval that is no longer pending. */
function ended(approval: ApprovalRecord): AppError {
  const { id, status, decidedAt, decidedBy, expiresAt, runId } = approval;
  if (status === "expired") return expired(approval, expiresAt ?? decidedAt!);
  const reason =
    status === "cancelled"
      ? `${id} is no longer pending: its run was stopped.`
      : `${id} was already ${status} by ${decidedBy} at ${decidedAt}; the first decision is final.`;
  return new AppError("approval_decided", `${reason} ${showRun(runId)}`);
}

export const refusals = {
  mayNotApprove,
  notAssigned,
  overrideNeeded,
  startedByCaller,
  authoredByCaller,
  decidedByCaller,
  seatTaken,
  absentMayNot,
  expired,
  ended,
};

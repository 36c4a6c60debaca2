/** Who may decide an approval, and until when. */
import { OPERATOR } from "../../schemas/actor.ts";
import { scopesIn } from "../../src/core/access.ts";
import { iso } from "../../src/core/clock.ts";
import { durationMs } from "../../src/core/duration.ts";
import { AppError } from "../../src/core/errors.ts";
import type { ApprovalRecord, RunActor, RunRecord } from "../../src/core/model.ts";
import type { RemainingWork } from "../../src/core/engine-port.ts";
import type { Principal, WorkflowReader } from "../../src/core/ports.ts";
import type { ApprovalReader } from "../../src/core/approval-ports.ts";
import type { RunReader } from "../../src/core/run-ports.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { type AuthoredWork, findAuthoredWork } from "./authored-work.ts";
import { findApproval } from "./serialize-approval.ts";

interface Readers {
  approvals: Pick<ApprovalReader, "find">;
  runs: Pick<RunReader, "find" | "step" | "versionDefinition">;
  workflows: Pick<WorkflowReader, "authorship" | "currentVersions" | "projectOf">;
}

/** An approval that a caller may decide, with what can still run after it. */
export interface Decidable {
  approval: ApprovalRecord;
  remaining: RemainingWork;
}

/**
 * Finds an approval that this caller may decide now.
 * @throws AppError approval_not_found, approval_not_yours, approval_decided, approval_expired
 */
export async function findDecidable(ctx: ToolContext, read: Readers, id: string): Promise<Decidable> {
  const approval = await findApproval(read.approvals, id);
  // The runs that wait for this one, and the workflows that take part in it, may belong to other projects.
  const everything = unscoped(read);
  const run = (await everything.runs.find(approval.runId))!;
  const { principal } = ctx.actor;
  if (!isAssigned(principal, approval, run)) throw notAssigned(approval);
  if (!ctx.engine.policy.approvalsByStarter && isStarter(principal, run.actor))
    throw startedByCaller(approval);
  if (approval.status !== "pending") throw decidedError(approval);
  // The deadline counts, not the timer: an executor may be late, and the decision would then be lost.
  const deadline = await deadlineOf(ctx, everything.runs, approval, run);
  if (deadline !== null && deadline <= iso(ctx.now())) throw expired(approval, deadline);
  const remaining = await ctx.engine.remainingWork(read, approval);
  if (!ctx.engine.policy.approvalsByAuthor) {
    const authored = await findAuthoredWork(everything, principal, run, remaining);
    if (authored !== undefined) throw authoredByCaller(approval, authored);
  }
  return { approval, remaining };
}

/** With assignees, only they decide: signed in, or with a key of their own. A signed-in admin can stand in for them. */
function isAssigned(
  { kind, owner, access }: Principal,
  { assignees }: ApprovalRecord,
  { project }: RunRecord,
): boolean {
  if (assignees.length === 0) return true;
  const email = owner.toLowerCase();
  return (
    assignees.some((assignee) => assignee.toLowerCase() === email) ||
    (kind !== "key" && scopesIn(access, project).has("admin"))
  );
}

const isStarter = (principal: Principal, starter: RunActor): boolean =>
  principal.owner === starter.owner &&
  (principal.owner !== OPERATOR || principal.lineage === starter.lineage);

/** The earliest of the timeouts of the step, its run, and the steps and runs that wait for its run (ISO 8601), or null. */
async function deadlineOf(
  { engine }: ToolContext,
  runs: Readers["runs"],
  { expiresAt }: ApprovalRecord,
  run: RunRecord,
): Promise<string | null> {
  const deadlines = expiresAt === null ? [] : [expiresAt];
  for (let next: RunRecord | undefined = run; next !== undefined;) {
    const { timeout } = await engine.getDefinition(next);
    if (timeout !== undefined) deadlines.push(iso(Date.parse(next.createdAt) + durationMs(timeout)));
    if (next.parent === null) break;
    const waitUntil = (await runs.step(next.parent))?.waitUntil ?? null;
    if (waitUntil !== null) deadlines.push(waitUntil);
    next = await runs.find(next.parent.runId);
  }
  return deadlines.toSorted()[0] ?? null;
}

const notAssigned = ({ id, assignees }: ApprovalRecord): AppError =>
  new AppError(
    "approval_not_yours",
    `${id} is assigned to ${assignees.join(", ")}. Only they can decide it, signed in or with a key of their own; ` +
      "a signed-in admin can decide in their place.",
  );

const startedByCaller = ({ id, runId }: ApprovalRecord): AppError =>
  new AppError(
    "approval_not_yours",
    `You started the run ${runId}, so somebody else must decide ${id}: another user, or another key with the scope ` +
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

const expired = ({ id, runId }: ApprovalRecord, deadline: string): AppError =>
  new AppError(
    "approval_expired",
    `${id} expired at ${deadline}: nobody decided in time. retry_run (POST /runs/${runId}/retry) asks again. ${showRun(runId)}`,
  );

const showRun = (runId: string): string => `get_run (GET /runs/${runId}) shows the run.`;

/** The error for an approval that is no longer pending. */
export function decidedError(approval: ApprovalRecord): AppError {
  const { id, status, decidedAt, decidedBy, expiresAt, runId } = approval;
  if (status === "expired") return expired(approval, expiresAt ?? decidedAt!);
  const reason =
    status === "cancelled"
      ? `${id} is no longer pending: its run was stopped.`
      : `${id} was already ${status} by ${decidedBy} at ${decidedAt}; the first decision is final.`;
  return new AppError("approval_decided", `${reason} ${showRun(runId)}`);
}

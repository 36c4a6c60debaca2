import type { Approval } from "../../schemas/approval.ts";
import type { ApprovalEvent, ApprovalRight } from "../../schemas/approval-rules.ts";
import { projectField } from "../../schemas/project.ts";
import type { RunStep } from "../../schemas/run.ts";
import { type ApprovalEventRecord, planDigest } from "../../src/core/approval-rules.ts";
import { iso } from "../../src/core/clock.ts";
import type { RemainingWork } from "../../src/core/engine-port.ts";
import { AppError } from "../../src/core/errors.ts";
import type { ApprovalRecord } from "../../src/core/model.ts";
import type { ApprovalReader } from "../../src/core/approval-ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { shownAssignees, type Standing, standingOf } from "./standing.ts";

/** An approval as the API returns it. @param remaining what can still run; left out, it is not shown */
export function serializeApproval(approval: ApprovalRecord, remaining?: RemainingWork): Approval {
  const { rules, status } = approval;
  const pending = status === "pending";
  const escalates = pending ? comingEscalations(approval) : [];
  return {
    id: approval.id,
    run_id: approval.runId,
    workflow_id: approval.workflowId,
    ...projectField(approval.project),
    step_id: approval.stepId,
    ...(approval.item !== null && { item: approval.item }),
    status,
    message: approval.message,
    form: approval.form,
    assignees: shownAssignees(approval),
    ...(rules.required > 1 && { required: rules.required }),
    ...(rules.requiredDeclines > 1 && { required_declines: rules.requiredDeclines }),
    created_at: approval.createdAt,
    expires_at: approval.expiresAt,
    decided_at: approval.decidedAt,
    decided_by: approval.decidedBy,
    comment: approval.comment,
    answer: approval.answer,
    ...(approval.evidence !== null && { evidence: approval.evidence }),
    ...(approval.delivery.byLink && { decide_by_link: true as const }),
    ...(approval.decidedVia !== null && { decided_via: approval.decidedVia }),
    ...decisionsField(approval, remaining?.digest),
    ...historyField(approval),
    ...(escalates.length > 0 && { escalates }),
    ...(remaining !== undefined && { plan: serializePlan(approval, remaining) }),
  };
}

/** An approval as the step of a run shows it. */
export const serializeRunApproval = (
  approval: ApprovalRecord,
): NonNullable<RunStep["approval_list"]>[number] => ({
  id: approval.id,
  ...(approval.item !== null && { item: approval.item }),
  status: approval.status,
  created_at: approval.createdAt,
  ...decisionsField(approval),
  ...historyField(approval),
});

/** @param digest of what can still run; left out, that of the plan that was decided, or of the last decision */
function decisionsField(
  { decisions, status, plan }: ApprovalRecord,
  digest?: string,
): Pick<Approval, "decisions"> {
  if (decisions.length === 0) return {};
  const decided = status === "pending" || plan === null ? decisions.at(-1)!.planDigest : planDigest(plan);
  return {
    decisions: decisions.map((decision) => ({
      by: decision.name,
      ...(decision.seat !== decision.person && { for: decision.seat }),
      ...(decision.override && { override: true as const }),
      approved: decision.approved,
      comment: decision.comment,
      at: decision.decidedAt,
      ...(decision.planDigest !== (digest ?? decided) && { outdated: true as const }),
    })),
  };
}

/** What happened since the question. */
function historyField({ events }: ApprovalRecord): Pick<Approval, "history"> {
  const history = events.filter(({ kind }) => kind !== "asked").map(serializeEvent);
  return history.length === 0 ? {} : { history };
}

const serializeEvent = (event: ApprovalEventRecord): ApprovalEvent => {
  const { kind, at, by, to, note, mailed, notified, hadMailServer } = event;
  const reason = hadMailServer ? (notified ? "nobody" : "pending") : "no_mail_server";
  return {
    event: kind,
    at,
    ...(by !== null && { by }),
    to: [...to],
    ...(note !== null && { note }),
    ...(mailed.length > 0 ? { mailed: [...mailed] } : { not_mailed: reason }),
  };
};

/** The escalations that have not happened. */
const comingEscalations = ({ rules, events, createdAt }: ApprovalRecord): { at: string; to: string[] }[] =>
  rules.escalate
    .slice(events.filter(({ kind }) => kind === "escalated").length)
    .map(({ after, to }) => ({ at: iso(Date.parse(createdAt) + after), to: [...to] }));

/** An approval with whether somebody can decide it. @param options.plan whether what can still run is shown, while it is pending */
export function serializeStanding(standing: Standing, { plan }: { plan: boolean }): Approval {
  const { approval, remaining } = standing;
  if (approval.status !== "pending") return serializeApproval(approval);
  const { plan: shown, ...rest } = serializeApproval(approval, remaining);
  return { ...rest, ...(plan && { plan: shown }), you: serializeRight(standing) };
}

function serializeRight({ right, refusal, assigned }: Standing): ApprovalRight {
  if (right === undefined) return { can_decide: false, assigned, reason: refusal!.message };
  const { seat, override } = right;
  return {
    can_decide: true,
    assigned,
    ...(seat.by !== "assignment" && { for: seat.of }),
    ...(override && { override: true }),
  };
}

const serializePlan = (
  approval: ApprovalRecord,
  { digest, levels, changes, workflows }: RemainingWork,
): NonNullable<Approval["plan"]> => ({
  digest,
  changed: hasPlanChanged(approval, levels),
  ...(changes.length > 0 && { changes }),
  workflows,
});

/** Whether what can still run differs from what the approval is bound to. One of an older release is bound to nothing. */
export const hasPlanChanged = ({ plan }: ApprovalRecord, levels: readonly string[]): boolean =>
  plan !== null && plan.join(" ") !== levels.join(" ");

/** A pending approval with what can still run and whether the caller can decide, a decided one with what the decision let run. */
export async function withStanding(ctx: ToolContext, approval: ApprovalRecord): Promise<Approval> {
  const { status } = approval;
  if (status === "pending")
    return serializeStanding(await standingOf(ctx, ctx.read, ctx.actor.principal, approval), { plan: true });
  const isDecided = status === "approved" || status === "declined";
  if (!isDecided) return serializeApproval(approval);
  const { plan } = serializeApproval(approval, await ctx.engine.remainingWork(ctx.read, approval));
  // The decisions count for the plan that was decided on, whatever holds now.
  return { ...serializeApproval(approval), plan: plan! };
}

/** @throws AppError approval_not_found */
export async function findApproval(
  approvals: Pick<ApprovalReader, "find">,
  id: string,
): Promise<ApprovalRecord> {
  const found = await approvals.find(id);
  if (found !== undefined) return found;
  throw new AppError(
    "approval_not_found",
    `There is no approval "${id.slice(0, 100)}". list_approvals (GET /approvals) shows the pending ones.`,
    { errors: [{ path: "approval_id", code: "not_found", message: "is not the id of an approval" }] },
  );
}

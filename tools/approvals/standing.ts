/** Who may decide an approval, and until when: the only place that says so. */
import { OPERATOR } from "../../schemas/actor.ts";
import { canonicalAddress } from "../../schemas/mail-address.ts";
import { type Access, mayUseTool, roleIn, scopesIn } from "../../src/core/access.ts";
import {
  assignmentOf,
  type Assignment,
  type Candidate,
  currentAssignees,
  type Seat,
  seatsOf,
} from "../../src/core/approval-assignment.ts";
import { absenteesFor, type PeopleReaders } from "../../src/core/approval-people.ts";
import type { ViewedProjects } from "../../src/core/connection-views.ts";
import type { ApprovalReader } from "../../src/core/approval-ports.ts";
import type { PersonDecision } from "../../src/core/approval-rules.ts";
import { findAuthoredWork, findStart, isOwnWork } from "../../src/core/authored-work.ts";
import { iso } from "../../src/core/clock.ts";
import { durationMs } from "../../src/core/duration.ts";
import type { RemainingWork } from "../../src/core/engine-port.ts";
import type { AppError } from "../../src/core/errors.ts";
import { samePerson } from "../../src/core/mailbox.ts";
import type { ApprovalRecord, RunRecord } from "../../src/core/model.ts";
import type { Principal, WorkflowReader } from "../../src/core/ports.ts";
import type { RunReader } from "../../src/core/run-ports.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { usageSubjectOf } from "../../src/core/usage-limits.ts";
import { refusals } from "./refusals.ts";

export interface StandingReaders extends PeopleReaders {
  approvals: Pick<ApprovalReader, "find">;
  runs: Pick<RunReader, "find" | "getStatusSummaries" | "step" | "versionDefinition">;
  workflows: Pick<WorkflowReader, "authorship" | "currentVersions" | "projectOf">;
  projects: PeopleReaders["projects"] & ViewedProjects;
}

/** Somebody who decides: the caller of a request, or a person whom a signed link or a message identifies, who may have no account. */
export type Decider = Pick<Principal, "kind" | "owner" | "keyName" | "lineage" | "access" | "decides">;

export type StandingContext = Pick<ToolContext, "engine" | "now">;

/** How somebody stands to an approval. */
export interface Standing {
  approval: ApprovalRecord;
  run: RunRecord;
  remaining: RemainingWork;
  /** Whether it is assigned to the person now, whether or not they may decide it. */
  assigned: boolean;
  /** The place that the person would take; undefined where they may not decide. */
  right: { seat: Seat; override: boolean } | undefined;
  /** Why the person may not decide; undefined where they may. */
  refusal: AppError | undefined;
}

/** The id of a person among the assignees and deciders of approvals. */
export const personId = (decider: Pick<Decider, "owner" | "lineage">): string =>
  usageSubjectOf({ ...decider, owner: canonicalAddress(decider.owner) });

/** What those do who may decide: decide, or let another person do it. */
export type DecidersOperation = "decide_approval" | "delegate_approval";

/** Whether a caller may decide approvals of a project at all, or pass them on, as its scopes and the limits of its key say. */
export const mayApproveIn = (
  access: Access,
  project: string,
  operation: DecidersOperation = "decide_approval",
): boolean => scopesIn(access, project).has("approve") && mayUseTool(access, operation);

/**
 * @param read the readers of the transaction, inside one; an approval in it has to be locked before
 * @param operation what the person does who may decide
 */
export async function standingOf(
  ctx: StandingContext,
  read: StandingReaders,
  decider: Decider,
  approval: ApprovalRecord,
  operation?: DecidersOperation,
): Promise<Standing> {
  // The runs that wait for this one, and the workflows that take part in it, may belong to other projects.
  const everything = unscoped(read);
  const run = (await everything.runs.find(approval.runId))!;
  const found = await findSeats(ctx, everything, decider, approval, run);
  const remaining = await ctx.engine.remainingWork(read, approval);
  const standing = { approval, run, remaining, assigned: found.assigned };
  const refuse = (refusal: AppError): Standing => ({ ...standing, right: undefined, refusal });
  const { seats, override } = found;
  if (!mayApproveIn(decider.access, run.project, operation))
    return refuse(refusals.mayNotApprove(approval, run.project, scopesIn(decider.access, run.project)));
  if (seats.length === 0) return refuse(refusals.notAssigned(approval, found.assignment, personId(decider)));
  const start = ctx.engine.policy.approvalsByStarter ? undefined : findStart(decider, run);
  if (start !== undefined) return refuse(refusals.startedByCaller(approval, start));
  if (approval.status !== "pending") return refuse(refusals.ended(approval));
  // The deadline counts, not the timer: an executor may be late, and the decision would then be lost.
  const deadline = await deadlineOf(ctx, everything.runs, approval, run);
  if (deadline !== null && deadline <= iso(ctx.now())) return refuse(refusals.expired(approval, deadline));
  if (!ctx.engine.policy.approvalsByAuthor) {
    const authored = await findAuthoredWork(everything, decider, run, remaining);
    if (authored !== undefined) return refuse(refusals.authoredByCaller(approval, authored));
  }
  const counted = approval.decisions.filter(({ planDigest }) => planDigest === remaining.digest);
  const own = counted.find(({ person }) => samePerson(person, personId(decider)));
  if (own !== undefined) return refuse(refusals.decidedByCaller(approval, own, counted));
  const { free, refusal } = await freeSeat(ctx, everything, { seats, counted, run, remaining, approval });
  return free === undefined ? refuse(refusal!) : { ...standing, right: { seat: free, override }, refusal };
}

/** Whether an approval is assigned to somebody, or to nobody in particular: quicker than `standingOf`. */
export async function concerns(
  ctx: StandingContext,
  read: StandingReaders,
  decider: Decider,
  approval: ApprovalRecord,
): Promise<boolean> {
  const everything = unscoped(read);
  const run = (await everything.runs.find(approval.runId))!;
  const { seats, override } = await findSeats(ctx, everything, decider, approval, run);
  return seats.length > 0 && !override;
}

interface FoundSeats {
  assignment: Assignment;
  seats: Seat[];
  assigned: boolean;
  /** Whether an admin would stand in for the assignees. */
  override: boolean;
}

/** With assignees, only they decide: signed in, or with a key of their own. A signed-in admin can stand in for them. */
async function findSeats(
  ctx: StandingContext,
  read: StandingReaders,
  decider: Decider,
  approval: ApprovalRecord,
  { project }: RunRecord,
): Promise<FoundSeats> {
  const assignment = assignmentOf(approval);
  const person: Candidate = {
    id: personId(decider),
    role: decider.owner === OPERATOR ? null : roleIn(decider.access, project),
  };
  const isPerson = decider.owner !== OPERATOR && !assignment.open;
  const absentees = isPerson ? await absenteesFor(read, person.id, project, iso(ctx.now())) : [];
  const seats = seatsOf(assignment, person, absentees);
  const assigned = !assignment.open && seats.length > 0;
  // Who has passed the approval on has given the place away, as an admin too.
  const passedOn = (assignment.holders.get(person.id) ?? person.id) !== person.id;
  const override =
    seats.length === 0 &&
    !passedOn &&
    decider.kind !== "key" &&
    scopesIn(decider.access, project).has("admin");
  return {
    assignment,
    seats: override ? [{ of: person.id, by: "assignment" }] : seats,
    assigned,
    override,
  };
}

/** The first place that nobody has taken. Who may not decide has no substitute either. */
async function freeSeat(
  { engine: { policy } }: StandingContext,
  read: StandingReaders,
  {
    seats,
    counted,
    run,
    remaining,
    approval,
  }: {
    seats: readonly Seat[];
    counted: readonly PersonDecision[];
    run: RunRecord;
    remaining: RemainingWork;
    approval: ApprovalRecord;
  },
): Promise<{ free: Seat | undefined; refusal: AppError | undefined }> {
  let refusal: AppError | undefined;
  for (const seat of seats) {
    const taken = counted.find((decision) => samePerson(decision.seat, seat.of));
    if (taken !== undefined) {
      refusal ??= refusals.seatTaken(approval, taken);
      continue;
    }
    if (seat.absent !== undefined && (await isOwnWork(policy, read, seat.absent, run, remaining))) {
      refusal ??= refusals.absentMayNot(approval, seat.absent);
      continue;
    }
    return { free: seat, refusal: undefined };
  }
  return { free: undefined, refusal };
}

/** The earliest of the timeouts of the step, its run, and the steps and runs that wait for its run (ISO 8601), or null. */
async function deadlineOf(
  { engine }: StandingContext,
  runs: StandingReaders["runs"],
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

/** Those to whom it is assigned now. Until something changes that, as they were written. */
export const shownAssignees = (approval: ApprovalRecord): string[] =>
  approval.events.some(({ kind }) => kind === "escalated" || kind === "delegated")
    ? currentAssignees(assignmentOf(approval))
    : [...approval.assignees];

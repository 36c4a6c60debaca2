/** Finds an approval that somebody may decide now. */
import { refusals } from "./refusals.ts";
import { findApproval } from "./serialize-approval.ts";
import {
  type Decider,
  type DecidersOperation,
  type Standing,
  type StandingContext,
  type StandingReaders,
  standingOf,
  shownAssignees,
} from "./standing.ts";

/** An approval that somebody may decide, with what can still run after it, and the place that they take. */
export type Decidable = Standing & { right: NonNullable<Standing["right"]> };

/**
 * Finds an approval that this person may decide now.
 * @param override whether an admin wants to decide in place of the assignees
 * @param operation what the person does; default: decide
 * @throws AppError approval_not_found, approval_not_yours, approval_decided, approval_expired
 */
export async function findDecidable(
  ctx: StandingContext,
  read: StandingReaders,
  {
    decider,
    id,
    override,
    operation,
  }: { decider: Decider; id: string; override: boolean; operation?: DecidersOperation },
): Promise<Decidable> {
  const standing = await standingOf(ctx, read, decider, await findApproval(read.approvals, id), operation);
  const { right, refusal, approval } = standing;
  if (right === undefined) throw refusal!;
  if (right.override && !override) throw refusals.overrideNeeded(approval, shownAssignees(approval));
  return { ...standing, right };
}

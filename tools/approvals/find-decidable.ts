/** Finds an approval that somebody may decide now. */
import type { ToolContext } from "../../src/core/tool.ts";
import { refusals } from "./refusals.ts";
import { findApproval } from "./serialize-approval.ts";
import {
  type Decider,
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
 * @throws AppError approval_not_found, approval_not_yours, approval_decided, approval_expired
 */
export async function findDecidable(
  ctx: StandingContext,
  read: StandingReaders,
  { decider, id, override }: { decider: Decider; id: string; override: boolean },
): Promise<Decidable> {
  const standing = await standingOf(ctx, read, decider, await findApproval(read.approvals, id));
  const { right, refusal, approval } = standing;
  if (right === undefined) throw refusal!;
  if (right.override && !override) throw refusals.overrideNeeded(approval, shownAssignees(approval));
  return { ...standing, right };
}

/** The same for the caller of an operation. */
export const findDecidableByCaller = (
  ctx: ToolContext,
  read: StandingReaders,
  id: string,
  override = false,
): Promise<Decidable> => findDecidable(ctx, read, { decider: ctx.actor.principal, id, override });

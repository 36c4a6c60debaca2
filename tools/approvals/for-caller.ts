/** Lists the pending approvals that concern a caller: those assigned to them, or those that they can decide. */
import type { ForMe } from "../../schemas/approval.ts";
import type { ApprovalFilter } from "../../src/core/approval-ports.ts";
import type { ListPosition } from "../../src/core/model.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { concerns, type Standing, standingOf } from "./standing.ts";

/** Number of approvals that are read at a time. */
const BATCH = 50;
/** Maximum number of approvals that one request examines: whether somebody can decide depends on each run. */
const MAX_EXAMINED = 300;

export interface Concerning {
  items: Standing[];
  next: ListPosition | null;
}

/**
 * Returns the next of the approvals that concern the caller. A page can have fewer than `limit`, and a next one, when many others
 * lie between.
 */
export async function approvalsForCaller(
  ctx: ToolContext,
  forMe: ForMe,
  { filter, after, limit }: { filter: ApprovalFilter; after: ListPosition | null; limit: number },
): Promise<Concerning> {
  const { principal } = ctx.actor;
  const items: Standing[] = [];
  let from = after;
  for (let examined = 0; examined < MAX_EXAMINED;) {
    const page = await ctx.read.approvals.page({ filter, after: from, limit: BATCH });
    for (const approval of page.items) {
      from = [approval.createdAt, approval.id];
      examined += 1;
      if (forMe !== "all" && !(await concerns(ctx, ctx.read, principal, approval))) continue;
      const standing = await standingOf(ctx, ctx.read, principal, approval);
      if (!isMeant(standing, forMe)) continue;
      items.push(standing);
      if (items.length < limit) continue;
      const isLast = page.next === null && approval === page.items.at(-1);
      return { items, next: isLast ? null : from };
    }
    if (page.next === null) return { items, next: null };
  }
  return { items, next: from };
}

/** An admin can decide in place of others, but is not asked to. */
const isMeant = ({ assigned, right }: Standing, forMe: ForMe): boolean =>
  forMe === "all" || (forMe === "assigned" ? assigned : right !== undefined && !right.override);

/** Counts them up to `MAX_COUNTED` and one more. */
export async function countForCaller(
  ctx: ToolContext,
  forMe: ForMe,
  filter: ApprovalFilter,
): Promise<number> {
  if (forMe === "all") return ctx.read.approvals.count(filter);
  const { items, next } = await approvalsForCaller(ctx, forMe, { filter, after: null, limit: MAX_COUNTED });
  return next === null ? items.length : MAX_COUNTED + 1;
}

/** Where counting them stops. */
export const MAX_COUNTED = 100;

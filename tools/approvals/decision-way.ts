/** Decisions of people who have not signed in: by the link in a mail, or by a button in a chat. */
import type { AuditDetails } from "../../src/core/account-ports.ts";
import { iso } from "../../src/core/clock.ts";
import type { RemainingWork } from "../../src/core/engine-port.ts";
import { AppError } from "../../src/core/errors.ts";
import { formatPlanChanges } from "../../src/core/format-plan.ts";
import type { ApprovalRecord } from "../../src/core/model.ts";
import type { Writers } from "../../src/core/ports.ts";
import type { Decider, StandingContext } from "./standing.ts";

/**
 * Uses the link of a decision up, in the transaction of the decision.
 * @returns what the audit log records of the way; nothing for somebody who has signed in
 * @throws AppError link_expired
 */
export async function claimDecision(
  ctx: Pick<StandingContext, "now">,
  tx: Pick<Writers, "approvalLinks">,
  { owner, decides: way }: Decider,
  { approval, remaining }: { approval: ApprovalRecord; remaining: RemainingWork },
): Promise<AuditDetails> {
  if (way === undefined) return {};
  if (way.via === "slack") return { via: "slack", slack_team: way.team, slack_member: way.member };
  const link = await tx.approvalLinks.find(way.digest);
  const holds =
    link?.approvalId === approval.id &&
    link.recipient === owner &&
    link.planDigest === remaining.digest &&
    approval.delivery.byLink;
  if (!holds || !(await tx.approvalLinks.consume(way.digest, iso(ctx.now())))) throw linkExpired(remaining);
  return { via: "link", link_sent_to: owner, address: way.address, opened_by: way.visitors };
}

const linkExpired = ({ changes }: RemainingWork): AppError =>
  new AppError(
    "link_expired",
    [
      "This link no longer decides: it was used, or what can run after the approval has changed. Sign in to decide.",
      ...formatPlanChanges(changes),
    ].join("\n"),
  );

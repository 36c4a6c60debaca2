/** What people decided about an approval, and what happened since the question, in words. */
import * as texts from "#texts/approvals";
import type { Approval } from "../../../schemas/approval.ts";
import { assigneeNames } from "./progress.ts";

type PersonalDecision = NonNullable<Approval["decisions"]>[number];
type ApprovalEvent = NonNullable<Approval["history"]>[number];

interface DescribedEvent {
  at: string;
  text: string;
}

/** In the order in which it happened. */
export function describeEvents({
  decisions = [],
  history = [],
}: Pick<Approval, "decisions" | "history">): DescribedEvent[] {
  return [
    ...decisions.map((decision) => ({ at: decision.at, text: describeDecision(decision) })),
    ...history.map((event) => ({ at: event.at, text: describeEvent(event) })),
  ].toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function describeDecision({
  by,
  for: seat,
  override,
  approved,
  comment,
  outdated,
}: PersonalDecision): string {
  return texts.decision({
    by,
    approved: `${approved}`,
    inPlace: `${seat !== undefined}`,
    person: seat ?? "",
    override: `${override === true}`,
    outdated: `${outdated === true}`,
    commented: `${comment !== null}`,
    comment: comment ?? "",
  });
}

function describeEvent({
  event,
  by,
  to,
  note,
  mailed = [],
  not_mailed: reason = "nobody",
}: ApprovalEvent): string {
  const names = assigneeNames(to);
  if (event === "delegated")
    return texts.delegated({
      known: `${by !== undefined}`,
      by: by ?? "",
      names,
      noted: `${note !== undefined}`,
      note: note ?? "",
    });
  const isMailed = mailed.length > 0;
  const addresses = mailed.join(", ");
  if (event === "escalated")
    return texts.escalated({ names, outcome: isMailed ? "mailed" : reason, mailed: addresses });
  return isMailed ? texts.reminded({ mailed: addresses }) : texts.reminder({ names, reason });
}

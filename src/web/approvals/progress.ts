/** How far an approval is that several people decide. */
import * as texts from "#texts/approvals";
import type { Approval } from "../../../schemas/approval.ts";

/** The assignees as text: addresses, and roles as the people who have them. */
export const assigneeNames = (assignees: readonly string[]): string =>
  assignees.map((assignee) => texts.assignee({ assignee })).join(", ");

/** Whether more than one person has to decide. */
export const isShared = ({ required = 1, required_declines: declines = 1 }: Approval): boolean =>
  required > 1 || declines > 1;

/** `1 of 2 approved`, with the declines where several are needed. */
export function progressText({
  required = 1,
  required_declines: requiredDeclines = 1,
  decisions = [],
}: Approval): string {
  const counted = decisions.filter(({ outdated }) => outdated !== true);
  const approved = counted.filter((decision) => decision.approved).length;
  const declined = counted.length - approved;
  return requiredDeclines > 1
    ? texts.progressWithDeclines({ approved, required, declined, requiredDeclines })
    : texts.progress({ approved, required });
}

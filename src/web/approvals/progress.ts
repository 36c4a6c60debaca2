/** How far an approval is that several people decide. */
import type { Approval } from "../../../schemas/approval.ts";

const ROLE_NAMES: Readonly<Record<string, string>> = { editor: "editors", admin: "admins" };

/** The assignees as text: addresses, and roles as the people who have them. */
export const assigneeNames = (assignees: readonly string[]): string =>
  assignees.map((assignee) => ROLE_NAMES[assignee] ?? assignee).join(", ");

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
  const declines = requiredDeclines > 1 ? `, ${declined} of ${requiredDeclines} declined` : "";
  return `${approved} of ${required} approved${declines}`;
}

const WAYS: Readonly<Record<NonNullable<Approval["decided_via"]>, (by: string) => string>> = {
  link: (by) => `the link that was sent to ${by}`,
  slack: (by) => `${by} in Slack`,
};

/** Who decided, and how. A link is no proof of who used it. */
export const byText = (by: string, via: Approval["decided_via"]): string =>
  via === undefined ? by : WAYS[via](by);

/** What the checker finds in the fields of an `approval` step that say who decides. */
import { ASSIGNED_ROLES, isAssignedRole } from "../../schemas/approval-rules.ts";
import { EXPRESSION_PATTERN } from "../../schemas/field-values.ts";
import { isMailAddress, mailAddressIssue } from "../../schemas/mail-address.ts";
import { Role } from "../../schemas/user.ts";
import type { Mailer, PartialIssue } from "../core/connections.ts";
import { mailboxOf } from "../core/mailbox.ts";
import { nearMatch } from "../core/near-match.ts";
import type { StepCheckContext, UnresolvedStep } from "../core/step-type.ts";
import { type WrittenAssignee, writtenAssignees } from "../core/written-assignees.ts";
import { recipientIssues } from "./recipient-issues.ts";

export async function whoDecidesIssues(
  step: UnresolvedStep,
  {
    connections,
    hasConnections,
    isActiveUser,
    memberEmails,
  }: Pick<StepCheckContext, "connections" | "hasConnections" | "isActiveUser" | "memberEmails">,
): Promise<PartialIssue[]> {
  const written = writtenAssignees(step).literal;
  const issues = [
    ...written.flatMap(roleIssues),
    ...escalationIssues(step),
    ...numberIssues(step),
    ...(hasConnections ? domainIssues(written, connections.mailer) : []),
  ];
  if (issues.length > 0 || isActiveUser === undefined) return issues;
  return warnings(written, { isActiveUser, memberEmails, byLink: step["decide_by_link"] === true });
}

/** What is neither an address nor a role. A word without @ is meant as a role. */
function roleIssues({ path, assignee }: WrittenAssignee): PartialIssue[] {
  const word = assignee.toLowerCase();
  const issue = mailAddressIssue(assignee);
  if (isAssignedRole(word) || issue === undefined) return [];
  if (assignee.includes("@") || issue.did_you_mean !== undefined)
    return [{ path, code: "wrong_format", ...issue }];
  const isViewer = word === "viewer";
  const near = isViewer ? undefined : nearMatch(word, Role.options);
  return [
    {
      path,
      code: "unknown_role",
      message: isViewer
        ? "is a role that can't decide: viewers only read"
        : `must be a mail address or a role, got "${assignee.slice(0, 100)}"`,
      allowed: [...ASSIGNED_ROLES],
      ...(near !== undefined && isAssignedRole(near) && { did_you_mean: near }),
      fix: `Write a mail address, or one of the roles ${ASSIGNED_ROLES.join(" and ")}.`,
    },
  ];
}

/** Without a mail server nobody is mailed, and the assignees find the approval in the list. */
function domainIssues(written: readonly WrittenAssignee[], mailer: Mailer): PartialIssue[] {
  if (mailer.unavailableReason() !== null) return [];
  return written
    .filter(({ assignee }) => isMailAddress(assignee))
    .flatMap(({ path, assignee }) =>
      recipientIssues("to", { id: "", type: "", to: assignee }, mailer).map((issue) =>
        Object.assign({}, issue, { path }),
      ),
    );
}

/** Warns of assignees who can't decide, or only with the link of a mail, because they are no active users of the project. */
async function warnings(
  written: readonly WrittenAssignee[],
  {
    isActiveUser,
    memberEmails,
    byLink,
  }: Pick<StepCheckContext, "memberEmails"> & {
    isActiveUser: (email: string) => Promise<boolean>;
    byLink: boolean;
  },
): Promise<PartialIssue[]> {
  const found: PartialIssue[] = [];
  for (const { path, assignee } of written) {
    if (!assignee.includes("@") || (await isActiveUser(assignee))) continue;
    const near = nearMatch(assignee, (await memberEmails?.()) ?? []);
    found.push({
      path,
      code: "not_a_user",
      severity: "warning",
      message: `is not the address of an active user, so ${assignee} ${byLink ? "can decide only with the link in the mail" : "can't decide"}`,
      ...(near !== undefined && { did_you_mean: near }),
      fix:
        near === undefined
          ? "Invite the person (POST /users), or write the address that they sign in with."
          : `Write ${near}, or invite the person (POST /users).`,
    });
  }
  return found;
}

function escalationIssues({ assignees, escalate, remind }: UnresolvedStep): PartialIssue[] {
  const isOpen = assignees === undefined || (Array.isArray(assignees) && assignees.length === 0);
  return isOpen
    ? [escalate === undefined ? [] : ["escalate"], remind === undefined ? [] : ["remind"]]
        .flat()
        .map((field) => ({
          path: [field],
          code: "missing",
          message: "needs assignees: without them everyone can decide, and nobody gets a mail",
          fix: `Add assignees, or remove ${field}.`,
        }))
    : [];
}

/** How many people could decide must be enough for every outcome, as far as all of them are named. */
function numberIssues(step: UnresolvedStep): PartialIssue[] {
  const { assignees, required = 1, required_declines: declines = 1 } = step;
  if (typeof required !== "number" || typeof declines !== "number") return [];
  const people = namedPeople(step);
  if (people === null) return [];
  const path = required > 1 ? ["required"] : ["required_declines"];
  if (Math.max(required, declines) > people)
    return [
      {
        path: required > people ? ["required"] : ["required_declines"],
        code: "out_of_range",
        message: `must be at most ${people}, the number of people in assignees, got ${Math.max(required, declines)}`,
        fix: "Name more people, or a role, or write a smaller number.",
      },
    ];
  if (assignees === undefined || required + declines - 1 <= people) return [];
  return [
    {
      path,
      code: "out_of_range",
      message:
        `leaves it undecided if ${required - 1} approve and ${declines - 1} decline: ` +
        `${required} approvals or ${declines} declines need ${required + declines - 1} people, and assignees has ${people}`,
      fix: "Name more people, or a role, or write a smaller number.",
    },
  ];
}

/** The number of people who can decide in the end; null where a role or an expression names some, or everyone can. */
function namedPeople(step: UnresolvedStep): number | null {
  const { assignees, escalate } = step;
  const values = [
    assignees ?? [],
    ...[escalate ?? []].flat().map((one) => (one as { to?: unknown }).to),
  ].flat(3);
  const people = new Set<string>();
  for (const value of values) {
    if (typeof value !== "string" || !value.includes("@") || EXPRESSION_PATTERN.test(value)) return null;
    people.add(mailboxOf(value));
  }
  return people.size === 0 ? null : people.size;
}

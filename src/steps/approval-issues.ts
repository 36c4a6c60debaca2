/** What the checker finds in the fields of an `approval` step that say who decides. */
import { z } from "zod";
import { ASSIGNED_ROLES, isAssignedRole } from "../../schemas/approval-rules.ts";
import { EXPRESSION_PATTERN } from "../../schemas/field-values.ts";
import { Role } from "../../schemas/user.ts";
import type { Mailer, PartialIssue } from "../core/connections.ts";
import { domainOf } from "../core/mail/domain-of.ts";
import { nearMatch } from "../core/near-match.ts";
import type { StepCheckContext, UnresolvedStep } from "../core/step-type.ts";
import { recipientIssues } from "./recipient-issues.ts";

type Path = PropertyKey[];

/** An assignee without an expression. */
interface Written {
  path: Path;
  assignee: string;
}

/** The assignees that are written as such, with their paths; expressions and what is no text are left out. */
function writtenAssignees(value: unknown, path: Path): Written[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => writtenAssignees(one, [...path, index]));
  return typeof value === "string" && !EXPRESSION_PATTERN.test(value) ? [{ path, assignee: value }] : [];
}

function allWritten({ assignees, escalate }: UnresolvedStep): Written[] {
  const escalations = Array.isArray(escalate)
    ? (escalate as unknown[]).map((one, index) => [["escalate", index], one] as const)
    : [[["escalate"], escalate] as const];
  return [
    ...writtenAssignees(assignees, ["assignees"]),
    ...escalations.flatMap(([path, one]) =>
      writtenAssignees((one as { to?: unknown } | undefined)?.to, [...path, "to"]),
    ),
  ];
}

export async function whoDecidesIssues(
  step: UnresolvedStep,
  {
    connections,
    hasConnections,
    isActiveUser,
    memberEmails,
  }: Pick<StepCheckContext, "connections" | "hasConnections" | "isActiveUser" | "memberEmails">,
): Promise<PartialIssue[]> {
  const written = allWritten(step);
  const issues = [
    ...written.flatMap(roleIssues),
    ...escalationIssues(step),
    ...numberIssues(step),
    ...(hasConnections ? domainIssues(written, connections.mailer) : []),
  ];
  const unreachable = hasConnections ? mailWarnings(step, connections.mailer) : [];
  const found = [...issues, ...duplicateIssues(written), ...unreachable];
  if (issues.length > 0 || isActiveUser === undefined) return found;
  return [...(await warnings(written, isActiveUser, memberEmails)), ...found];
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || (Array.isArray(value) && value.length === 0);

/** Warns that nobody gets a mail, where the step counts on mails. With `decide_by_link` the link has the warning. */
function mailWarnings(step: UnresolvedStep, mailer: Mailer): PartialIssue[] {
  const reason = mailer.unavailableReason();
  const field = ["remind", "escalate", "assignees"].find((name) => !isEmpty(step[name]));
  if (reason === null || field === undefined || step["decide_by_link"] === true) return [];
  return [
    {
      path: [field],
      code: "unusable",
      severity: "warning",
      message: `sends no mail: ${reason}`,
      fix: "Without mail, the assignees find the approval only in the list of approvals.",
    },
  ];
}

/** What is neither an address nor a role. A word without @ is meant as a role. */
function roleIssues({ path, assignee }: Written): PartialIssue[] {
  const word = assignee.toLowerCase();
  if (isAssignedRole(word) || z.email().safeParse(assignee).success) return [];
  if (assignee.includes("@"))
    return [{ path, code: "wrong_format", message: "must be a mail address, such as ada@example.com" }];
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
function domainIssues(written: readonly Written[], mailer: Mailer): PartialIssue[] {
  if (mailer.unavailableReason() !== null) return [];
  return written
    .filter(({ assignee }) => assignee.includes("@"))
    .flatMap(({ path, assignee }) =>
      recipientIssues("to", { id: "", type: "", to: assignee }, mailer).map((issue) =>
        Object.assign({}, issue, { path }),
      ),
    );
}

/** Warns of assignees who can't decide, because they are no active users of the project. */
async function warnings(
  written: readonly Written[],
  isActiveUser: (email: string) => Promise<boolean>,
  memberEmails: StepCheckContext["memberEmails"],
): Promise<PartialIssue[]> {
  const found: PartialIssue[] = [];
  for (const { path, assignee } of written) {
    if (!assignee.includes("@") || (await isActiveUser(assignee))) continue;
    const near = nearAddress(assignee, (await memberEmails?.()) ?? []);
    found.push({
      path,
      code: "not_a_user",
      severity: "warning",
      message: `is not the address of an active user, so ${assignee} can't decide`,
      ...(near !== undefined && { did_you_mean: near }),
      fix:
        near === undefined
          ? "Invite the person (POST /users), or write the address that they sign in with."
          : `Write ${near}, or invite the person (POST /users).`,
    });
  }
  return found;
}

/** What is before and after the @, in lower case. */
const partsOf = (address: string): [string, string] => [
  address.slice(0, address.lastIndexOf("@")).toLowerCase(),
  domainOf(address),
];

/**
 * The address that a misspelt one probably means: one that differs a little either before or after the @. Addresses of one domain
 * have most letters in common, so as a whole any of them would be near.
 */
function nearAddress(address: string, known: readonly string[]): string | undefined {
  const [local, domain] = partsOf(address);
  const parts = known.map((email) => ({ email, parts: partsOf(email) }));
  const near = (word: string, index: 0 | 1): string | undefined => {
    const others = parts.filter((one) => one.parts[1 - index] === [local, domain][1 - index]);
    const found = nearMatch(
      word,
      others.map((one) => one.parts[index]),
    );
    return others.find((one) => one.parts[index] === found)?.email;
  };
  return near(local, 0) ?? near(domain, 1);
}

/** Warns of the same address or role twice in one list, in whatever case: it counts once. */
function duplicateIssues(written: readonly Written[]): PartialIssue[] {
  const seen = new Map<string, string>();
  return written.flatMap(({ path, assignee }): PartialIssue[] => {
    // The list of an item: its path without the index.
    const list = typeof path.at(-1) === "number" ? path.slice(0, -1) : path;
    const key = JSON.stringify([list, assignee.toLowerCase()]);
    const first = seen.get(key);
    seen.set(key, first ?? assignee);
    if (first === undefined) return [];
    return [
      {
        path,
        code: "duplicate_assignee",
        severity: "warning",
        message: `is in this list already${first === assignee ? "" : ` as ${first}`}, and counts once`,
        fix: "Remove it.",
      },
    ];
  });
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
    people.add(value.toLowerCase());
  }
  return people.size === 0 ? null : people.size;
}

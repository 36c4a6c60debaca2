/** The people that an approval concerns: who has a role, who is away, and who gets a mail. */
import { canonicalAddress } from "../../schemas/mail-address.ts";
import { MAX_PAGE } from "../../schemas/page.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import { Role, ROLE_SCOPES } from "../../schemas/user.ts";
import { accessOfPerson, roleIn } from "./access.ts";
import type { UserReader } from "./account-ports.ts";
import {
  assignmentOf,
  type Candidate,
  seatsOf,
  substitutedBy,
  substitutesOf,
} from "./approval-assignment.ts";
import { mailboxOf } from "./mailbox.ts";
import type { ApprovalRecord } from "./model.ts";
import type { ProjectReader } from "./project-ports.ts";

/** Maximum number of people who get a mail about one approval. */
const MAX_RECIPIENTS = 50;

export interface PeopleReaders {
  users: Pick<UserReader, "findByEmail" | "page" | "absencesAt">;
  projects: Pick<ProjectReader, "isSingle" | "membershipsOf" | "members">;
}

/** The role of an active user in a project; null for none. */
export async function roleOfPerson(
  { users, projects }: Pick<PeopleReaders, "projects"> & { users: Pick<UserReader, "findByEmail"> },
  email: string,
  project: string,
): Promise<Role | null> {
  const user = await users.findByEmail(email);
  if (user?.status !== "active") return null;
  const memberships = await projects.membershipsOf(email);
  const isSingleProject = await projects.isSingle();
  return roleIn(accessOfPerson({ role: user.role, memberships, isSingleProject }), project);
}

/** Whether an address is that of an active user whose role in a project lets them decide approvals. */
async function canDecideIn(
  read: Parameters<typeof roleOfPerson>[0],
  email: string,
  project: string,
): Promise<boolean> {
  const role = await roleOfPerson(read, email, project);
  return role !== null && ROLE_SCOPES[role].includes("approve");
}

/** The addresses of active users who have a role in a project, or a higher one, sorted, about `limit` of them. */
export async function peopleWithRole(
  { users, projects }: PeopleReaders,
  role: Role,
  project: string,
  limit: number,
): Promise<string[]> {
  const isEnough = (held: string): boolean =>
    Role.options.indexOf(held as Role) >= Role.options.indexOf(role);
  const found = new Set<string>();
  // An admin of the default project is one in every project.
  const isHere = project === DEFAULT_PROJECT;
  for (let after: readonly [string, string] | null = null; ;) {
    const filter = { status: "active" as const, ...(!isHere && { role: "admin" as const }) };
    const { items, next } = await users.page({ filter, after, limit: MAX_PAGE });
    for (const user of items) if (isEnough(user.role)) found.add(user.email);
    if (next === null || found.size >= limit) break;
    after = next;
  }
  if (!isHere)
    for (const { email, role: held } of await projects.members(project))
      if (isEnough(held) && (await users.findByEmail(email))?.status === "active") found.add(email);
  return [...found].toSorted();
}

/** Those whom a person stands in for now, with their roles in a project. @param now ISO 8601 */
export async function absenteesFor(
  read: PeopleReaders,
  email: string,
  project: string,
  now: string,
): Promise<Candidate[]> {
  const away = await read.users.absencesAt(now);
  return Promise.all(
    substitutedBy(email, away).map(async (id) => ({ id, role: await roleOfPerson(read, id, project) })),
  );
}

/** Somebody who gets a mail about an approval. */
export interface ApprovalRecipient {
  email: string;
  /** In whose place the person would decide; null for the own one. */
  for: string | null;
}

/**
 * Who is notified of an approval: those to whom it is assigned now, and the substitutes of those who are away. Nobody is notified whose
 * place is taken by a decision for the present plan, nobody who may not decide, and nobody for an approval that everyone can decide.
 * @param options.to only of these assignees, such as those whom an escalation has added
 * @param options.planDigest the digest of what can still run now; left out, no decision counts
 * @param options.isOwnWork whether a person started the run, or wrote what it runs, and so may not decide
 * @param options.now ISO 8601
 */
export async function approvalRecipients(
  read: PeopleReaders,
  approval: Pick<ApprovalRecord, "assignees" | "events" | "decisions" | "project">,
  {
    to,
    planDigest,
    isOwnWork,
    now,
  }: {
    to?: readonly string[] | undefined;
    planDigest?: string;
    isOwnWork(email: string): Promise<boolean>;
    now: string;
  },
): Promise<ApprovalRecipient[]> {
  const assignment = assignmentOf(approval);
  const decided = approval.decisions.filter((decision) => decision.planDigest === planDigest);
  const taken = new Set(decided.flatMap(({ seat, person }) => [mailboxOf(seat), mailboxOf(person)]));
  const isMeant = (assignee: string): boolean =>
    to === undefined || to.some((one) => canonicalAddress(one) === assignee);
  const recipients = new Map<string, ApprovalRecipient>();
  const mayDecide = async (email: string): Promise<boolean> => {
    // Somebody without an account may get one, or decide with the link of the mail.
    const isStranger = (await read.users.findByEmail(email)) === undefined;
    return (isStranger || (await canDecideIn(read, email, approval.project))) && !(await isOwnWork(email));
  };
  const add = async (email: string, seat: string): Promise<void> => {
    const hasDecided = taken.has(mailboxOf(seat)) || taken.has(mailboxOf(email));
    if (hasDecided || recipients.has(email) || recipients.size >= MAX_RECIPIENTS) return;
    if (await mayDecide(email)) recipients.set(email, { email, for: email === seat ? null : seat });
  };
  const own: { email: string; seat: string }[] = [...assignment.holders].flatMap(([seat, holder]) =>
    isMeant(seat) || isMeant(holder) ? [{ email: holder, seat }] : [],
  );
  for (const role of assignment.roles.filter(isMeant))
    for (const email of await peopleWithRole(read, role, approval.project, MAX_RECIPIENTS))
      if (seatsOf(assignment, { id: email, role }).some(({ of }) => of === email))
        own.push({ email, seat: email });
  for (const { email, seat } of own) await add(email, seat);
  const away = await read.users.absencesAt(now);
  for (const { email, seat } of own) {
    const substitutes = substitutesOf(email, away);
    // Whose own work it is has no substitute either.
    if (substitutes.length === 0 || (await isOwnWork(email))) continue;
    for (const substitute of substitutes) await add(substitute, seat);
  }
  return [...recipients.values()];
}

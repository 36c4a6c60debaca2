/**
 * To whom an approval is assigned: a pure function of what was asked and what happened since. Each person who is named has a seat.
 * An assignee who passes the approval on gives the seat to another person; who is away keeps it, and shares it with the substitute.
 * Each seat decides once, so two people never decide for one.
 */
import { type AssignedRole, isAssignedRole } from "../../schemas/approval-rules.ts";
import { canonicalAddress } from "../../schemas/mail-address.ts";
import { Role } from "../../schemas/user.ts";
import type { ApprovalEventRecord } from "./approval-rules.ts";

export interface Assignment {
  /** Whether nobody is named: everyone with the scope can decide. */
  open: boolean;
  roles: readonly AssignedRole[];
  /** Who holds each seat, by the person whose seat it is, as canonical addresses. */
  holders: ReadonlyMap<string, string>;
}

/** Somebody who may decide. */
export interface Candidate {
  /** The canonical address, or another subject for a key of the operator. */
  id: string;
  /** The role in the project of the approval; null for none, and for keys of the operator. */
  role: Role | null;
}

/** A place that somebody can take with a decision. */
export interface Seat {
  /** Whose place it is. */
  of: string;
  /** Why the person can take it. */
  by: "assignment" | "delegation" | "absence";
  /** Who is away, for a substitute. */
  absent?: string;
}

const ROLE_ORDER = Role.options;

/** Whether a role is the one that is asked for, or a higher one. */
const hasRole = (role: Role | null, roles: readonly AssignedRole[]): boolean =>
  role !== null && roles.some((asked) => ROLE_ORDER.indexOf(role) >= ROLE_ORDER.indexOf(asked));

export function assignmentOf({
  assignees,
  events,
}: {
  assignees: readonly string[];
  events: readonly Pick<ApprovalEventRecord, "kind" | "by" | "to">[];
}): Assignment {
  const holders = new Map<string, string>();
  const roles = new Set<AssignedRole>();
  const assign = (to: readonly string[]): void => {
    for (const assignee of to) {
      const id = canonicalAddress(assignee);
      if (isAssignedRole(id)) roles.add(id);
      else if (!holders.has(id)) holders.set(id, id);
    }
  };
  assign(assignees);
  for (const { kind, by, to } of events) {
    if (kind === "escalated") assign(to);
    if (kind !== "delegated" || by === null) continue;
    const [from, next] = [canonicalAddress(by), canonicalAddress(to[0]!)];
    // A person who decides by a role, or because nobody is named, gets a seat and gives it away. Others have only those that they hold.
    if (!holders.has(from) && (roles.size > 0 || assignees.length === 0)) holders.set(from, from);
    for (const [seat, holder] of holders) if (holder === from) holders.set(seat, next);
  }
  return { open: assignees.length === 0, roles: [...roles], holders };
}

/** The seats that a person holds, without those of people who are away. */
function heldSeats({ open, roles, holders }: Assignment, { id, role }: Candidate): Seat[] {
  const held = [...holders].filter(([, holder]) => holder === id).map(([seat]) => seat);
  const passedOn = holders.has(id) && holders.get(id) !== id;
  const own = !passedOn && (open || held.includes(id) || hasRole(role, roles));
  return [
    ...(own ? [{ of: id, by: "assignment" as const }] : []),
    ...held.filter((seat) => seat !== id).map((seat) => ({ of: seat, by: "delegation" as const })),
  ];
}

/**
 * The seats that a person can take, the own one first.
 * @param absentees whose substitute the person is now, also through others who are away
 */
export function seatsOf(
  assignment: Assignment,
  person: Candidate,
  absentees: readonly Candidate[] = [],
): Seat[] {
  const seats = heldSeats(assignment, person);
  // Nobody is named, so nobody has to be replaced.
  if (assignment.open) return seats;
  const known = new Set(seats.map((seat) => seat.of));
  for (const absent of absentees)
    for (const { of } of heldSeats(assignment, absent)) {
      if (known.has(of)) continue;
      known.add(of);
      seats.push({ of, by: "absence", absent: absent.id });
    }
  return seats;
}

/** Those to whom it is assigned now: addresses of the holders, then roles. */
export const currentAssignees = ({ holders, roles }: Assignment): string[] => [
  ...new Set(holders.values()),
  ...roles,
];

/** When somebody is away, and who decides in their place. */
export interface Absence {
  email: string;
  /** ISO 8601. */
  startsAt: string;
  /** ISO 8601; from then on the person is back. */
  endsAt: string;
  substitute: string;
  setAt: string;
}

/** The people whom somebody stands in for, directly and through substitutes who are away as well. @param away who is away now */
export function substitutedBy(
  email: string,
  away: readonly Pick<Absence, "email" | "substitute">[],
): string[] {
  const found = new Set<string>();
  const queue = [email];
  for (let substitute = queue.pop(); substitute !== undefined; substitute = queue.pop())
    for (const absence of away) {
      if (absence.substitute !== substitute || absence.email === email || found.has(absence.email)) continue;
      found.add(absence.email);
      queue.push(absence.email);
    }
  return [...found];
}

/** The people who stand in for somebody, the nearest first; circles end where they began. @param away who is away now */
export function substitutesOf(
  email: string,
  away: readonly Pick<Absence, "email" | "substitute">[],
): string[] {
  const found: string[] = [];
  for (let next = email; ;) {
    const substitute = away.find((absence) => absence.email === next)?.substitute;
    if (substitute === undefined || substitute === email || found.includes(substitute)) return found;
    found.push(substitute);
    next = substitute;
  }
}

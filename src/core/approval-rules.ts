/** The rules of an approval that several people decide, and what is recorded of it. */
import type { ApprovalEventKind } from "../../schemas/approval-rules.ts";
import { shortHash } from "./short-hash.ts";

export interface ApprovalRules {
  /** How many people must approve. */
  required: number;
  /** How many people must decline. */
  requiredDeclines: number;
  /** When those who have not decided are reminded, in milliseconds after the question; null for never. */
  remind: { every: number } | { after: readonly number[] } | null;
  /** To whom it goes as well, in milliseconds after the question, in the order of time. */
  escalate: readonly Escalation[];
}

interface Escalation {
  after: number;
  /** Addresses and roles. */
  to: readonly string[];
}

/** The rules of an approval that has none of its own: the first decision ends it. */
export const FIRST_DECIDES: ApprovalRules = {
  required: 1,
  requiredDeclines: 1,
  remind: null,
  escalate: [],
};

/** What one person decided. */
export interface PersonDecision {
  /** The usage subject of the person (usage-limits.ts). */
  person: string;
  /** Whose place the person took: their own, or that of an assignee who is away or passed it on. */
  seat: string;
  /** Who it was, for people. */
  name: string;
  approved: boolean;
  /** Whether it was an admin who is no assignee. */
  override: boolean;
  comment: string | null;
  answer: Record<string, unknown> | null;
  decidedAt: string;
  /** The digest of the plan that it was made for. */
  planDigest: string;
}

export interface ApprovalEventRecord {
  /** Counted from 1. */
  seq: number;
  kind: ApprovalEventKind;
  at: string;
  by: string | null;
  /** Addresses and roles. */
  to: readonly string[];
  /** What who passed it on wrote. */
  note: string | null;
  /** Whether those whom it concerns have been notified. */
  notified: boolean;
  /** Whether a mail server was configured when it happened: without one, a reminder is only recorded. */
  hadMailServer: boolean;
  /** The addresses to which a mail about it was sent. */
  mailed: readonly string[];
}

/** An event as it is recorded. */
export type NewApprovalEvent = Omit<ApprovalEventRecord, "seq" | "mailed">;

/** The digest of everything that can still run, from those of its levels. */
export const planDigest = (levels: readonly string[]): string => shortHash(levels.join(" "));

export interface Tally {
  approved: number;
  declined: number;
  /** Null while it is open. */
  outcome: "approved" | "declined" | null;
}

/** Counts the decisions that were made for a plan. Those for other plans don't count. */
export function tally(
  { required, requiredDeclines }: Pick<ApprovalRules, "required" | "requiredDeclines">,
  decisions: readonly Pick<PersonDecision, "approved" | "planDigest">[],
  digest: string,
): Tally {
  const counted = decisions.filter(({ planDigest: of }) => of === digest);
  const approved = counted.filter((decision) => decision.approved).length;
  const declined = counted.length - approved;
  const outcome = declined >= requiredDeclines ? "declined" : approved >= required ? "approved" : null;
  return { approved, declined, outcome };
}

/**
 * The number of reminders that are due at a time, and the time of the next one.
 * @param elapsed since the question, in milliseconds
 * @param max the largest number of reminders
 * @returns `next` in milliseconds after the question; null after the last one
 */
export function remindersAt(
  remind: ApprovalRules["remind"],
  elapsed: number,
  max: number,
): { due: number; next: number | null } {
  if (remind === null) return { due: 0, next: null };
  if ("after" in remind) {
    const due = remind.after.filter((after) => after <= elapsed).length;
    return { due, next: remind.after[due] ?? null };
  }
  const due = Math.min(max, Math.max(0, Math.floor(elapsed / remind.every)));
  return { due, next: due >= max ? null : (due + 1) * remind.every };
}

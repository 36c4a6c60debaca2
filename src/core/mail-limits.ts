/**
 * Limits the mails that somebody causes: all of an hour, and those to one address. They are counted before a mail is sent. Those who use
 * a limit together have shares of it, by the rule of fair-share.ts.
 */
import { iso } from "./clock.ts";
import { mayTakePlaces, shareAlone } from "./fair-share.ts";
import { mailboxOf } from "./mailbox.ts";
import type { UsageWriter } from "./run-ports.ts";
import {
  limitExceededMessage,
  type MailResource,
  type UsageHolder,
  type UsageLimit,
  usageLimitFor,
  windowEnd,
} from "./usage-limits.ts";

/** Why a mail is not sent now. */
export interface HeldMail {
  message: string;
  /** When it may be sent, in milliseconds since 1970; null for a mail to more addresses than the limit, or the share, has. */
  until: number | null;
}

/** How many mails are counted under one name. */
interface Count {
  holder: UsageHolder;
  kind: MailResource;
  subject: string;
  limit: UsageLimit;
  amount: number;
  endsAt: number;
}

type Usage = Pick<UsageWriter, "reserve" | "add" | "usedInWindow">;

/**
 * Counts a mail to each of some addresses, for every holder of a limit: all of them or none.
 * @param holders whose limits apply; one without limits of mails is not counted
 * @param now milliseconds since 1970
 * @returns why it must not be sent now; undefined when it was counted
 */
export async function countMails(
  usage: Usage,
  holders: readonly UsageHolder[],
  addresses: readonly string[],
  now: number,
): Promise<HeldMail | undefined> {
  const counted: Count[] = [];
  for (const count of countsOf(holders, addresses, now)) {
    const held = await reserve(usage, count);
    if (held === undefined) {
      counted.push(count);
      continue;
    }
    // The caller goes on with its transaction, without the mail.
    for (const other of counted)
      for (const subject of [other.subject, ...sharerSubject(other)])
        await usage.add(subject, other.kind, other.endsAt, -other.amount);
    return held;
  }
  return undefined;
}

/** @returns why it can't be reserved, of all or of the share; nothing is counted then */
async function reserve(usage: Usage, count: Count): Promise<HeldMail | undefined> {
  const { subject, kind, endsAt, amount, limit } = count;
  if (!(await usage.reserve(subject, kind, endsAt, { amount, max: limit.max }))) return beyondLimit(count);
  for (const sharer of sharerSubject(count)) {
    // The row of all is locked, so what the others have is exact.
    const free = limit.max - (await usage.usedInWindow(subject, kind, endsAt)) + amount;
    const held = await usage.usedInWindow(sharer, kind, endsAt);
    if (mayTakePlaces(amount, { held, free })) {
      await usage.add(sharer, kind, endsAt, amount);
      continue;
    }
    await usage.add(subject, kind, endsAt, -amount);
    return beyondShare(count);
  }
  return undefined;
}

/** Under which name the share is counted; none where nobody shares the limit. A mailbox and a subject hold no line feed. */
const sharerSubject = ({ holder: { sharer }, subject }: Pick<Count, "holder" | "subject">): string[] =>
  sharer === undefined ? [] : [`${subject}\n${sharer.subject}`];

function countsOf(holders: readonly UsageHolder[], addresses: readonly string[], now: number): Count[] {
  // A tag leads to the same mailbox, so it must not be a way around the limit. In order, so that two transactions with the same mailboxes
  // lock the first one first.
  const mailboxes = [...new Set(addresses.map(mailboxOf))].toSorted();
  const counts: Count[] = [];
  for (const holder of holders) {
    const add = (kind: MailResource, subject: string, amount: number, label?: string): void => {
      const limit = usageLimitFor(holder.limits, kind);
      if (limit === undefined) return;
      const endsAt = windowEnd(limit, now);
      counts.push({ holder, kind, subject, limit: { ...limit, ...(label && { label }) }, amount, endsAt });
    };
    add("mails", holder.subject, addresses.length);
    for (const mailbox of mailboxes)
      add("mails_to_address", `${holder.subject} ${mailbox}`, 1, `mails to ${mailbox}`);
  }
  return counts;
}

const beyondLimit = (count: Count): HeldMail => {
  const { holder, limit, amount, endsAt } = count;
  return amount <= limit.max
    ? { message: limitExceededMessage(holder, limit, endsAt), until: endsAt }
    : tooMany(count, holder.label, limit.max);
};

function beyondShare(count: Count): HeldMail {
  const { holder, limit, amount, endsAt } = count;
  const label = holder.sharer!.label;
  const alone = shareAlone(limit.max);
  if (amount > alone) return tooMany(count, label, alone, `its share of ${limit.max.toLocaleString("en")}, `);
  return {
    message:
      `${label} has used its share of the ${limit.max.toLocaleString("en")} ${limit.label} of this ${limit.windowName} that ` +
      `${holder.label} may send (${holder.settingName(limit.limit)}); the rest is kept for others. More are available from ${iso(endsAt)}.`,
    until: endsAt,
  };
}

const tooMany = ({ holder, limit, amount }: Count, label: string, max: number, share = ""): HeldMail => ({
  message:
    `The mail goes to ${amount} addresses, and ${label} may send ${max.toLocaleString("en")} ` +
    `${limit.label} in an ${limit.windowName} (${share}${holder.settingName(limit.limit)}).`,
  until: null,
});

/** What a log line says of a mail that waits. */
export const heldFields = ({ message, until }: HeldMail): { reason: string; until: string | null } => ({
  reason: message,
  until: until === null ? null : iso(until),
});

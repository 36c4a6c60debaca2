/** Limits the mails that somebody causes: all of an hour, and those to one address. They are counted before a mail is sent. */
import { iso } from "./clock.ts";
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
  /** When it may be sent, in milliseconds since 1970; null for a mail to more addresses than the limit has. */
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

/**
 * Counts a mail to each of some addresses, for every holder of a limit: all of them or none.
 * @param holders whose limits apply; one without limits of mails is not counted
 * @param now milliseconds since 1970
 * @returns why it must not be sent now; undefined when it was counted
 */
export async function countMails(
  usage: Pick<UsageWriter, "reserve" | "add">,
  holders: readonly UsageHolder[],
  addresses: readonly string[],
  now: number,
): Promise<HeldMail | undefined> {
  const counted: Count[] = [];
  for (const count of countsOf(holders, addresses, now)) {
    const { subject, kind, endsAt, amount, limit } = count;
    if (await usage.reserve(subject, kind, endsAt, { amount, max: limit.max })) {
      counted.push(count);
      continue;
    }
    // The caller goes on with its transaction, without the mail.
    for (const other of counted) await usage.add(other.subject, other.kind, other.endsAt, -other.amount);
    return held(count);
  }
  return undefined;
}

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

const held = ({ holder, limit, amount, endsAt }: Count): HeldMail =>
  amount <= limit.max
    ? { message: limitExceededMessage(holder, limit, endsAt), until: endsAt }
    : {
        message:
          `The mail goes to ${amount} addresses, and ${holder.label} may send ${limit.max.toLocaleString("en")} ` +
          `${limit.label} in an ${limit.windowName} (${holder.settingName(limit.limit)}).`,
        until: null,
      };

/** What a log line says of a mail that waits. */
export const heldFields = ({ message, until }: HeldMail): { reason: string; until: string | null } => ({
  reason: message,
  until: until === null ? null : iso(until),
});

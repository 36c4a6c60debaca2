/** The interfaces of the store for messages about approvals, and for the links in them that decide. */
import type { Applied } from "./transactions.ts";

/** A link that decides an approval once, without signing in. Its token is stored nowhere. */
export interface ApprovalLinkRecord {
  approvalId: string;
  /** The address that it was sent to, in lower case. */
  recipient: string;
  /** The digest of the plan that the mail shows: it decides on nothing else. */
  planDigest: string;
  createdAt: string;
  usedAt: string | null;
}

/** A browser that has opened a link. */
interface LinkVisit {
  address: string;
  /** The name of the browser. */
  client: string;
  at: string;
}

export interface ApprovalLinkReader {
  /** @param digest the SHA-256 digest of the token */
  find(digest: Buffer): Promise<ApprovalLinkRecord | undefined>;
  /** The different browsers that have opened it, oldest first. */
  visits(digest: Buffer): Promise<LinkVisit[]>;
}

export interface ApprovalLinkWriter extends ApprovalLinkReader {
  insert(link: Omit<ApprovalLinkRecord, "usedAt"> & { digest: Buffer }): Promise<void>;
  /**
   * Uses a link up.
   *
   * Guarantee: of all calls for one link, one returns true.
   * Locks: the link's row, until the transaction ends.
   * Concurrent callers: wait, then get false.
   */
  consume(digest: Buffer, at: string): Promise<Applied>;
  /**
   * Records that a browser has opened a link: one entry for each address and browser, up to `MAX_VISITS`.
   * @returns false when this one is on record, or too many are
   */
  addVisit(digest: Buffer, visit: LinkVisit): Promise<Applied>;
}

/** How a message reaches people. */
export type MessageChannel = "mail" | "slack" | "teams";

/** A message about an approval that was sent, or that never will be. */
export interface ApprovalMessageRecord {
  approvalId: string;
  channel: MessageChannel;
  /** An address in lower case, or the name of a chat of the configuration. */
  recipient: string;
  at: string;
  /** `sent`: can be updated with the outcome. `closed`: shows the outcome. `refused`: was refused for good. */
  status: "sent" | "closed" | "refused";
  /** What identifies it at the receiver; null for none. */
  reference: string | null;
}

/** The recipient of the record of a mail about an event of an approval: the question itself (1) has none beside the address. */
export const mailRecipient = (email: string, seq: number): string => (seq <= 1 ? email : `${email} ${seq}`);

/** Reads what `mailRecipient` wrote. */
export function readMailRecipient(recipient: string): { email: string; seq: number } {
  const [email = "", seq = "1"] = recipient.split(" ");
  return { email, seq: Number(seq) };
}

export interface ApprovalMessageReader {
  of(approvalId: string): Promise<ApprovalMessageRecord[]>;
}

export interface ApprovalMessageWriter extends ApprovalMessageReader {
  /** Records a message, in place of an earlier one to the same recipient over the same channel. */
  put(message: ApprovalMessageRecord): Promise<void>;
}

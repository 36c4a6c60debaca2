/**
 * The hash chain of the audit log. The hash of an entry covers all its fields and the hash of the entry before it, so a changed,
 * missing, added or moved entry no longer fits. docs/security.md describes the exact form and what the chain shows.
 */
import { hash } from "node:crypto";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import type { AuditEntry } from "./account-ports.ts";
import { canonicalJson } from "./canonical-json.ts";

/** An entry of the chain: its id and its hash. The next entry continues from it. */
export interface ChainLink {
  id: number;
  /** SHA-256 as 64 lower-case hexadecimal digits. */
  hash: string;
}

/** What the first entry of an instance continues from. */
export const CHAIN_START: ChainLink = { id: 0, hash: "0".repeat(64) };

/**
 * The text that the hash of an entry covers: its fields as the API returns them, except for `hash` and those that are null, as
 * JSON with sorted keys and without spaces. Fields that a later release adds are null in older entries, so the hashes of
 * these stay valid.
 */
function hashedText(entry: Omit<AuditEntry, "hash">): string {
  // Written out in the order of the keys: sorting them for each entry takes several times as long.
  return JSON.stringify({
    at: entry.at,
    client: entry.client,
    details: entry.details === null ? undefined : JSON.parse(canonicalJson(entry.details)),
    id: entry.id,
    key_name: entry.keyName ?? undefined,
    lineage: entry.lineage ?? undefined,
    operation: entry.operation,
    owner: entry.owner,
    project: entry.project === DEFAULT_PROJECT ? undefined : entry.project,
    request_id: entry.requestId ?? undefined,
    surface: entry.surface,
    target: entry.target ?? undefined,
  });
}

/**
 * The link of an entry that follows another one.
 * @param previousHash the hash of the entry before it
 */
export const linkOf = (previousHash: string, entry: Omit<AuditEntry, "hash">): ChainLink => ({
  id: entry.id,
  hash: hash("sha256", `${previousHash}\n${hashedText(entry)}`, "hex"),
});

/**
 * The link after entries of which some may have no hash, because an older release wrote them. What these contain is covered by
 * the hash of the next entry that has one.
 * @param entries that follow `previous`, oldest first
 */
export const continueChain = (previous: ChainLink, entries: readonly AuditEntry[]): ChainLink =>
  entries.reduce<ChainLink>(
    (link, entry) => (entry.hash === null ? linkOf(link.hash, entry) : { id: entry.id, hash: entry.hash }),
    previous,
  );

/** The first entry that does not fit. */
export interface ChainBreak {
  /** The first entry that may be wrong. */
  id: number;
  /** The last one: entries without a hash are only checked by the next one that has one. */
  lastId: number;
  reason: "missing" | "changed" | "hash removed";
}

/** What a verification has found. */
export interface ChainReport {
  /** Number of entries that were verified. */
  verified: number;
  /** Number of entries without a hash, which an older release wrote, and the first ids of them. */
  unhashed: { count: number; ids: number[] };
  /** Where the chain is broken first; the entries after it were not verified. */
  broken: ChainBreak | undefined;
  /** The newest entry, as it is when nothing is broken. */
  head: ChainLink;
}

/** Maximum number of ids that a report lists. */
const MAX_LISTED = 10;

/**
 * Verifies a chain entry by entry.
 * @param start what the first entry continues from
 */
export function chainVerifier(start: ChainLink) {
  const unhashed: ChainReport["unhashed"] = { count: 0, ids: [] };
  let head = start;
  /** The newest entry that was verified by its own hash. */
  let lastVerified = start.id;
  let verified = 0;
  let broken: ChainBreak | undefined;

  function check(entry: AuditEntry): ChainBreak | undefined {
    if (entry.id !== head.id + 1)
      return { id: head.id + 1, lastId: Math.max(entry.id - 1, head.id + 1), reason: "missing" };
    const link = linkOf(head.hash, entry);
    if (entry.hash === null) {
      // Releases before the chain wrote no lineage; this one writes both, or none of them.
      if (entry.lineage !== null) return { id: entry.id, lastId: entry.id, reason: "hash removed" };
      unhashed.count += 1;
      if (unhashed.ids.length < MAX_LISTED) unhashed.ids.push(entry.id);
    } else {
      if (entry.hash !== link.hash) return { id: lastVerified + 1, lastId: entry.id, reason: "changed" };
      lastVerified = entry.id;
    }
    head = link;
    verified += 1;
    return undefined;
  }

  return {
    /** Verifies the next entry. @returns false once the chain is broken */
    add(entry: AuditEntry): boolean {
      broken ??= check(entry);
      return broken === undefined;
    },
    /** The newest entry that fits. */
    head: (): ChainLink => head,
    report: (): ChainReport => ({ verified, unhashed, broken, head }),
  };
}

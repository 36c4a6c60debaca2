/** Verifies the hash chain of the stored audit log. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Kysely } from "kysely";
import { type ChainLink, type ChainReport, chainVerifier } from "../core/audit-chain.ts";
import {
  CHAIN_BATCH,
  chainHead,
  chainLinkFrom,
  type ChainOrigin,
  chainOrigin,
  entriesAfter,
} from "./audit-entries.ts";
import { olderReleasesMayRun } from "./older-copies.ts";
import type { Schema } from "./schema.ts";

/** What became of an entry whose id and hash somebody wrote down. */
type KnownEntry = "part of the chain" | "different" | "missing" | "purged";

export interface AuditVerification extends ChainReport {
  /** The first id that was verified, minus one. */
  start: ChainLink;
  /** Whether older entries of the chain were not verified, because only the newest were asked for. */
  partial: boolean;
  /** Entries between the last purge and the oldest kept one. */
  missing: ChainOrigin["missing"];
  /** Whether releases that know no chain may have written or purged entries. */
  olderReleases: boolean;
  /** What became of `known`. */
  known: KnownEntry | undefined;
}

export interface VerificationOptions {
  /** Verifies only about this many of the newest entries; default: all. */
  newest?: number | undefined;
  /** An entry whose id and hash were written down earlier. */
  known?: ChainLink | undefined;
}

/**
 * Verifies the entries, oldest first. It reads them in batches, so that it blocks no writer for long.
 * @returns undefined before the chain begins: no release with a chain has written an entry yet
 */
export async function verifyAuditLog(
  db: Kysely<Schema>,
  options: VerificationOptions = {},
): Promise<AuditVerification | undefined> {
  for (;;) {
    const origin = await chainOrigin(db);
    if (origin === undefined) return undefined;
    const result = await verifyFrom(db, origin, options);
    if (result.broken === undefined) return result;
    // A purge in the meantime has deleted entries that were still to be read.
    const after = await chainOrigin(db);
    if (after?.link.id === origin.link.id) return result;
  }
}

async function verifyFrom(
  db: Kysely<Schema>,
  { link, missing }: ChainOrigin,
  { newest = Infinity, known }: VerificationOptions,
): Promise<AuditVerification> {
  const last = (await chainHead(db))?.id ?? link.id;
  const first = last - newest;
  const start = first > link.id ? ((await chainLinkFrom(db, first)) ?? link) : link;
  const verifier = chainVerifier(start);
  let fate: KnownEntry | undefined = known && (known.id < start.id ? "purged" : "missing");
  const compare = (found: ChainLink): void => {
    if (found.id === known?.id) fate = found.hash === known.hash ? "part of the chain" : "different";
  };
  compare(start);
  for (let from = start.id, intact = true; intact; await yieldToEventLoop()) {
    const entries = await entriesAfter(db, from, CHAIN_BATCH);
    if (entries.length === 0) break;
    from = entries.at(-1)!.id;
    for (const entry of entries) {
      intact = verifier.add(entry);
      if (!intact) break;
      compare(verifier.head());
    }
  }
  return {
    ...verifier.report(),
    start,
    partial: start.id > link.id,
    missing,
    olderReleases: await olderReleasesMayRun(db),
    known: fate,
  };
}

/** Purges the audit log without breaking its hash chain. */
import type { Kysely } from "kysely";
import { continueChain } from "../core/audit-chain.ts";
import { acceptOlderPurge, chainOrigin, entriesAfter, saveAnchor } from "./audit-entries.ts";
import { olderReleasesMayRun } from "./older-copies.ts";
import type { Schema } from "./schema.ts";

/**
 * Deletes up to `limit` entries from before a time, oldest first, and records what the oldest kept entry continues from.
 * Ids must stay without gaps, so an entry that is not yet old keeps those after it, unless its time is in the future: then it
 * was written by a process whose clock was ahead.
 * @param before ISO 8601, as `now`
 * @returns whether there may be more
 */
export async function purgeAuditLog(
  trx: Kysely<Schema>,
  { before, now, limit }: { before: string; now: string; limit: number },
): Promise<boolean> {
  if (await olderReleasesMayRun(trx)) await acceptOlderPurge(trx);
  const oldest = await entriesAfter(trx, 0, limit);
  const kept = oldest.findIndex(({ at }) => at >= before && at <= now);
  const last = oldest.slice(0, kept === -1 ? undefined : kept).findLast(({ at }) => at < before);
  if (last === undefined) return false;
  const origin = await chainOrigin(trx);
  await trx.deleteFrom("audit_log").where("id", "<=", last.id).execute();
  if (origin !== undefined) {
    const covered = oldest.filter(({ id }) => id > origin.link.id && id <= last.id);
    if (covered.length > 0) await saveAnchor(trx, continueChain(origin.link, covered));
  }
  return kept === -1 && oldest.length === limit;
}

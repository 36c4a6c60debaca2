/** Clears away what has had its time. Whoever writes clears a little of its own kind; here goes what nobody came by. */
import type { Transaction } from "kysely";
import { type Clock, iso } from "../core/clock.ts";
import { purgeRateLimitCounts } from "./rate-limit-counts.ts";
import { purgeAuditLog } from "./audit.ts";
import type { Store } from "./database.ts";
import { purgeExpiredLinks } from "./links.ts";
import { purgeIdleMcpSessions } from "./mcp-sessions.ts";
import { runWriter } from "./run-writer.ts";
import type { Schema } from "./schema.ts";
import { purgeIdempotencyKeys } from "./unit-of-work.ts";
import { purgeUsageCounts } from "./usage.ts";

/** About so many rows go in one transaction: so long others wait for the lock. */
const AT_ONCE = 2_000;

/** For how long, in milliseconds. */
export interface Retention {
  runs: number;
  audit: number;
}

/** Deletes some of one kind, at `now` (milliseconds); gives whether there may be more. */
type Forget = (trx: Transaction<Schema>, now: number) => Promise<boolean>;

/**
 * Everything temporary but sessions of people, which the web server ends itself: finished runs with all that belongs to
 * them, cached outputs, audit entries, idempotency records, counts, links, MCP sessions and messages.
 */
export async function purgeExpired(
  { transaction }: Pick<Store, "transaction">,
  clock: Clock,
  keep: Retention,
): Promise<void> {
  const kinds: readonly Forget[] = [
    (trx, now) => runWriter(trx).purge(iso(now - keep.runs), iso(now), AT_ONCE),
    (trx, now) => purgeAuditLog(trx, iso(now - keep.audit), AT_ONCE),
    (trx, now) => purgeIdempotencyKeys(trx, now, AT_ONCE),
    (trx, now) => purgeRateLimitCounts(trx, now, AT_ONCE),
    (trx, now) => purgeUsageCounts(trx, now, AT_ONCE),
    (trx, now) => purgeExpiredLinks(trx, now, AT_ONCE),
    (trx, now) => purgeIdleMcpSessions(trx, now, AT_ONCE),
  ];
  for (const some of kinds) while (await transaction((trx) => some(trx, clock.now())));
}

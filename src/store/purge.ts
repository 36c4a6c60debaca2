/** Purges expired rows. Writers purge a few rows of their own table; this purges the rest. */
import type { Transaction } from "kysely";
import { type Clock, iso } from "../core/clock.ts";
import { purgeRateLimitCounts } from "./rate-limit-counts.ts";
import { purgeAuditLog } from "./audit.ts";
import type { Store } from "./database.ts";
import { purgeExpiredLinks } from "./links.ts";
import { purgeIdleMcpSessions } from "./mcp-sessions.ts";
import { purgeRateSlots } from "./rate-slots.ts";
import { purgeRuns } from "./purge-runs.ts";
import type { Schema } from "./schema.ts";
import { purgeIdempotencyKeys } from "./unit-of-work.ts";
import { purgeUsageCounts } from "./usage.ts";

/** Maximum number of rows purged per transaction, which limits how long others wait for the lock. */
const BATCH_SIZE = 2_000;

/** How long rows are kept, in milliseconds. */
export interface Retention {
  runs: number;
  audit: number;
}

/** Deletes a batch of expired rows at `now` (milliseconds); returns whether there may be more. */
type PurgeBatch = (trx: Transaction<Schema>, now: number) => Promise<boolean>;

/**
 * Purges finished runs and their data, cached outputs, audit entries, idempotency records, counts, links, MCP sessions and
 * messages. The web server purges the sessions of users itself.
 */
export async function purgeExpired(
  { transaction }: Pick<Store, "transaction">,
  clock: Clock,
  retention: Retention,
): Promise<void> {
  const batches: readonly PurgeBatch[] = [
    (trx, now) => purgeRuns(trx, { before: iso(now - retention.runs), now: iso(now), limit: BATCH_SIZE }),
    (trx, now) => purgeAuditLog(trx, iso(now - retention.audit), BATCH_SIZE),
    (trx, now) => purgeIdempotencyKeys(trx, now, BATCH_SIZE),
    (trx, now) => purgeRateLimitCounts(trx, now, BATCH_SIZE),
    (trx, now) => purgeUsageCounts(trx, now, BATCH_SIZE),
    (trx, now) => purgeRateSlots(trx, now, BATCH_SIZE),
    (trx, now) => purgeExpiredLinks(trx, now, BATCH_SIZE),
    (trx, now) => purgeIdleMcpSessions(trx, now, BATCH_SIZE),
  ];
  for (const purgeBatch of batches) while (await transaction((trx) => purgeBatch(trx, clock.now())));
}

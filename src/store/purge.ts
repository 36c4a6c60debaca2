/** Purges expired rows. Writers purge a few rows of their own table; this purges the rest. */
import { setTimeout } from "node:timers/promises";
import type { Transaction } from "kysely";
import { type Clock, DAY, iso } from "../core/clock.ts";
import { purgeAbsences } from "./absences.ts";
import { purgeEndedApplications } from "./api-keys.ts";
import { purgeBackfills } from "./backfills.ts";
import { purgeBacktests } from "./backtests.ts";
import { purgeBulkActions } from "./bulk-actions.ts";
import { purgeRateLimitCounts } from "./rate-limit-counts.ts";
import { purgeAuditLog } from "./purge-audit-log.ts";
import type { Locking, Store } from "./store.ts";
import { purgeExpiredLinks } from "./links.ts";
import { purgeTriggerDeliveries } from "./prune-trigger-deliveries.ts";
import { purgeIdleMcpSessions } from "./mcp-sessions.ts";
import { purgeOauthStates } from "./oauth-states.ts";
import { purgeRateSlots } from "./rate-slots.ts";
import { purgeKeyNotices } from "./key-notices.ts";
import { purgeDeliveries } from "./outbox.ts";
import { purgeRuns } from "./purge-runs.ts";
import type { Schema } from "./schema.ts";
import { purgeIdempotencyKeys } from "./unit-of-work.ts";
import { purgeUsageCounts } from "./usage.ts";

/** Maximum number of rows of a table purged per transaction, which limits how long others wait for the lock. */
const BATCH_SIZE = 250;
/** How many times its own duration nothing follows a transaction: so purging takes half of the time at most. */
const PAUSE_FACTOR = 1;

/** How long the ended authorization of an application stays in the list of keys, in milliseconds. */
const KEEP_ENDED_APPLICATIONS_MS = 30 * DAY;

/** How long rows are kept, in milliseconds. */
export interface Retention {
  runs: number;
  audit: number;
  deliveries: number;
}

/** Waits before the next transaction. @param ms in milliseconds */
export type PurgePause = (ms: number) => Promise<unknown>;

/** Deletes a batch of expired rows at `now` (milliseconds); returns whether there may be more. */
type PurgeBatch = (trx: Transaction<Schema>, now: number) => Promise<boolean>;

/**
 * Purges finished runs and their data, deliveries of triggers and to subscriptions, backfills, backtests, bulk actions, cached outputs, audit entries, idempotency records,
 * counts, links, MCP sessions,
 * messages, expired state of the OAuth protocol, absences that are over, and authorizations of applications that ended 30 days ago. The web server
 * purges the sessions of users itself. Runs go on meanwhile: transactions are small, and each is followed by a pause.
 */
export async function purgeExpired(
  { transaction }: Pick<Store, "transaction">,
  clock: Clock,
  retention: Retention,
  pause: PurgePause = setTimeout,
): Promise<void> {
  const ofRuns: PurgeBatch = (trx, now) =>
    purgeRuns(trx, { before: iso(now - retention.runs), now: iso(now), limit: BATCH_SIZE });
  const batches: readonly PurgeBatch[] = [
    (trx, now) => purgeBackfills(trx, { before: iso(now - retention.runs), limit: BATCH_SIZE }),
    (trx, now) => purgeBacktests(trx, { before: iso(now - retention.runs), limit: BATCH_SIZE }),
    (trx, now) => purgeBulkActions(trx, { before: iso(now - retention.runs), limit: BATCH_SIZE }),
    (trx, now) =>
      purgeAuditLog(trx, { before: iso(now - retention.audit), now: iso(now), limit: BATCH_SIZE }),
    (trx, now) => purgeDeliveries(trx, { before: iso(now - retention.deliveries), limit: BATCH_SIZE }),
    (trx, now) => purgeKeyNotices(trx, { before: iso(now), limit: BATCH_SIZE }),
    (trx, now) => purgeIdempotencyKeys(trx, now, BATCH_SIZE),
    (trx, now) => purgeRateLimitCounts(trx, now, BATCH_SIZE),
    (trx, now) => purgeUsageCounts(trx, now, BATCH_SIZE),
    (trx, now) => purgeRateSlots(trx, now, BATCH_SIZE),
    (trx, now) => purgeExpiredLinks(trx, now, BATCH_SIZE),
    (trx, now) => purgeIdleMcpSessions(trx, now, BATCH_SIZE),
    (trx, now) => purgeTriggerDeliveries(trx, now, BATCH_SIZE),
    (trx, now) => purgeOauthStates(trx, now, BATCH_SIZE),
    (trx, now) => purgeAbsences(trx, iso(now), BATCH_SIZE),
    (trx, now) =>
      purgeEndedApplications(trx, { before: iso(now - KEEP_ENDED_APPLICATIONS_MS), limit: BATCH_SIZE }),
  ];
  const purgeAll = async (purgeBatch: PurgeBatch, locking: Locking): Promise<void> => {
    for (let isMore = true; isMore;) {
      let beganAt = 0;
      isMore = await transaction((trx) => {
        beganAt = performance.now();
        return purgeBatch(trx, clock.now());
      }, locking);
      await pause(PAUSE_FACTOR * (performance.now() - beganAt));
    }
  };
  // Other runs go on beside it: what is purged is locked by its rows.
  await purgeAll(ofRuns, "rows");
  for (const purgeBatch of batches) await purgeAll(purgeBatch, "database");
}

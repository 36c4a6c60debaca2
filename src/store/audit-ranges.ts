/** Scans the audit log in ranges of ids. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Kysely } from "kysely";
import type { Schema } from "./schema.ts";

/** Number of entries per query; between two queries other work runs. */
const SCAN_BATCH = 5_000;
/** Maximum number of entries that one request scans. */
const SCAN_LIMIT = 1_000_000;

/** The first or the last id, one per query: SQLite would scan the table for both at once. */
async function boundaryId(db: Kysely<Schema>, direction: "asc" | "desc"): Promise<number | undefined> {
  const row = await db
    .selectFrom("audit_log")
    .select("id")
    .orderBy("id", direction)
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

/**
 * The ranges of ids to scan, newest first. It yields to the event loop between them, because one query over everything
 * would block all other requests.
 * @param before only entries with a smaller id
 */
export async function* auditRanges(
  db: Kysely<Schema>,
  before: number | null,
): AsyncGenerator<{ from: number; to: number }> {
  const [first, last] = [await boundaryId(db, "asc"), await boundaryId(db, "desc")];
  if (first === undefined || last === undefined) return;
  const newest = Math.min(last, (before ?? Infinity) - 1);
  const oldest = Math.max(first, newest - SCAN_LIMIT + 1);
  for (let to = newest; to >= oldest; to -= SCAN_BATCH) {
    if (to !== newest) await yieldToEventLoop();
    yield { from: Math.max(oldest, to - SCAN_BATCH + 1), to };
  }
}

/** The ranges of ids above `after` to scan, oldest first. */
export async function* auditRangesAfter(
  db: Kysely<Schema>,
  after: number,
): AsyncGenerator<{ from: number; to: number }> {
  const [first, last] = [await boundaryId(db, "asc"), await boundaryId(db, "desc")];
  if (first === undefined || last === undefined) return;
  const oldest = Math.max(first, after + 1);
  for (let from = oldest; from <= last; from += SCAN_BATCH) {
    if (from !== oldest) await yieldToEventLoop();
    yield { from, to: Math.min(last, from + SCAN_BATCH - 1) };
  }
}

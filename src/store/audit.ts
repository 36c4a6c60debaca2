/** Reads the audit log, newest entries first. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type ExpressionBuilder, type Kysely, sql, type SqlBool } from "kysely";
import type { AuditEntry, AuditFilter, AuditReader } from "../core/account-ports.ts";
import { contains } from "./dialect.ts";
import type { Schema } from "./schema.ts";

/** Number of entries per query; between two queries other work runs. */
const SCAN_BATCH = 5_000;
/** Maximum number of entries that a page or a count scans. */
const SCAN_LIMIT = 1_000_000;

const columns = [
  "id",
  "at",
  "operation",
  "target",
  "owner",
  "key_name as keyName",
  "surface",
  "client",
  "request_id as requestId",
] as const;

/** The text to search. Search terms contain no line break, so none matches across two columns. */
const searchText = sql<string>`lower(operation || char(10) || coalesce(target, '') || char(10) || owner || char(10) || coalesce(key_name, '') || char(10) || client)`;

/** Matches the operation itself, or with an outcome after a dot. */
const isOperation = (operation: string) =>
  sql<SqlBool>`(operation = ${operation} or substr(operation, 1, ${operation.length + 1}) = ${`${operation}.`})`;

function matches(eb: ExpressionBuilder<Schema, "audit_log">, filter: AuditFilter) {
  const { searchTerms = [], owner, operation, target, surface, since, until } = filter;
  return eb.and([
    ...(owner === undefined ? [] : [eb("owner", "=", owner)]),
    ...(operation === undefined ? [] : [isOperation(operation)]),
    ...(target === undefined ? [] : [eb("target", "=", target)]),
    ...(surface === undefined ? [] : [eb("surface", "=", surface)]),
    ...(since === undefined ? [] : [eb("at", ">=", since)]),
    ...(until === undefined ? [] : [eb("at", "<", until)]),
    ...searchTerms.map((word) => contains(searchText, word.toLowerCase())),
  ]);
}

/**
 * Deletes up to `limit` entries from before a time (ISO 8601); returns whether there may be more. It goes by id, oldest
 * first, so that it does not scan the entries that stay.
 */
export async function purgeAuditLog(trx: Kysely<Schema>, before: string, limit: number): Promise<boolean> {
  const oldest = await trx.selectFrom("audit_log").select(["id", "at"]).orderBy("id").limit(limit).execute();
  const last = oldest.findLast(({ at }) => at < before);
  if (last === undefined) return false;
  const { numDeletedRows } = await trx
    .deleteFrom("audit_log")
    .where("id", "<=", last.id)
    .where("at", "<", before)
    .executeTakeFirstOrThrow();
  // An entry of a clock that was ahead stays; entries after it may still be older than `before`.
  return numDeletedRows > 0n;
}

export function auditReader(db: Kysely<Schema>): AuditReader {
  /** The first or the last id, one per query: SQLite would scan the table for both at once. */
  async function boundaryId(direction: "asc" | "desc"): Promise<number | undefined> {
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
   */
  async function* ranges(before: number | null): AsyncGenerator<{ from: number; to: number }> {
    const [first, last] = [await boundaryId("asc"), await boundaryId("desc")];
    if (first === undefined || last === undefined) return;
    const newest = Math.min(last, (before ?? Infinity) - 1);
    const oldest = Math.max(first, newest - SCAN_LIMIT + 1);
    for (let to = newest; to >= oldest; to -= SCAN_BATCH) {
      if (to !== newest) await yieldToEventLoop();
      yield { from: Math.max(oldest, to - SCAN_BATCH + 1), to };
    }
  }

  return {
    async page({ filter, before, limit }) {
      const found: AuditEntry[] = [];
      for await (const { from, to } of ranges(before)) {
        const rows = await db
          .selectFrom("audit_log")
          .select(columns)
          .where("id", ">=", from)
          .where("id", "<=", to)
          .where((eb) => matches(eb, filter))
          .orderBy("id", "desc")
          .limit(limit - found.length)
          .execute();
        found.push(...rows);
        if (found.length >= limit) break;
      }
      return found;
    },

    async count(filter) {
      let total = 0;
      for await (const { from, to } of ranges(null)) {
        const { count } = await db
          .selectFrom("audit_log")
          .select((eb) => eb.fn.countAll<number | string>().as("count"))
          .where("id", ">=", from)
          .where("id", "<=", to)
          .where((eb) => matches(eb, filter))
          .executeTakeFirstOrThrow();
        total += Number(count);
      }
      return total;
    },
  };
}

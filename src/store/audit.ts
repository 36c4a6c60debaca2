/** Who did what, as it is read: newest first. */
import { setImmediate as breath } from "node:timers/promises";
import { type ExpressionBuilder, type Kysely, sql, type SqlBool } from "kysely";
import type { AuditEntry, AuditFilter, AuditReader } from "../core/account-ports.ts";
import { contains } from "./dialect.ts";
import type { Schema } from "./schema.ts";

/** So many entries are looked through in one go; then it is everybody else's turn. */
const LOOKED_AT_ONCE = 5_000;
/** A page, and a count too, ends after so many entries were looked through: bounded, whatever is asked for. */
const LOOKED_AT_MOST = 1_000_000;

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

/** Where words are looked for; no word has a line break in it, so none is found across two of them. */
const searchText = sql<string>`lower(operation || char(10) || coalesce(target, '') || char(10) || owner || char(10) || coalesce(key_name, '') || char(10) || client)`;

/** The operation itself, or with what it came to behind a dot. */
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
 * Deletes entries from before a moment, `limit` at most; gives whether there may be more. They go by their ids, oldest
 * first: nobody has to look through what stays.
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
  // One from a clock that was ahead stays among them: it does not mean that those behind it stay too.
  return numDeletedRows > 0n;
}

/** Reads the audit log through `db`. */
export function auditReader(db: Kysely<Schema>): AuditReader {
  /** The first or the last id; asked for both at once, SQLite would walk through all of them. */
  async function end(direction: "asc" | "desc"): Promise<number | undefined> {
    const row = await db
      .selectFrom("audit_log")
      .select("id")
      .orderBy("id", direction)
      .limit(1)
      .executeTakeFirst();
    return row?.id;
  }

  /**
   * The ranges of ids to look through, newest first, with a breath between them: one look at everything would keep
   * all others waiting.
   */
  async function* ranges(before: number | null): AsyncGenerator<{ from: number; to: number }> {
    const [first, last] = [await end("asc"), await end("desc")];
    if (first === undefined || last === undefined) return;
    const newest = Math.min(last, (before ?? Infinity) - 1);
    const oldest = Math.max(first, newest - LOOKED_AT_MOST + 1);
    for (let to = newest; to >= oldest; to -= LOOKED_AT_ONCE) {
      if (to !== newest) await breath();
      yield { from: Math.max(oldest, to - LOOKED_AT_ONCE + 1), to };
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

/** What keys and people have used in a window: one count for all copies. */
import { type Kysely, sql } from "kysely";
import type { UsageReader, UsageWriter } from "../core/run-ports.ts";
import { COUNT_RETENTION_MS } from "./rate-limit-counts.ts";
import type { Schema } from "./schema.ts";

/** Deletes counts whose window is over, `limit` at most; gives whether there may be more. */
export async function purgeUsageCounts(trx: Kysely<Schema>, now: number, limit: number): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom("usage_counts")
    .where((eb) =>
      eb(
        eb.refTuple("holder", "kind", "ends_at"),
        "in",
        eb
          .selectFrom("usage_counts")
          .select(["holder", "kind", "ends_at"])
          .where("ends_at", "<=", now - COUNT_RETENTION_MS)
          .limit(limit)
          .$asTuple("holder", "kind", "ends_at"),
      ),
    )
    .executeTakeFirstOrThrow();
  return numDeletedRows >= BigInt(limit);
}

/** Reads the counts through `db`: a connection, or a transaction. */
export function usageReader(db: Kysely<Schema>): UsageReader {
  return {
    async usedInWindow(holder, kind, endsAt) {
      const row = await db
        .selectFrom("usage_counts")
        .select("used")
        .where("holder", "=", holder)
        .where("kind", "=", kind)
        .where("ends_at", "=", endsAt)
        .executeTakeFirst();
      return row?.used ?? 0;
    },
  };
}

/** Counts inside the transaction that uses something up. */
export function usageWriter(trx: Kysely<Schema>): UsageWriter {
  return {
    ...usageReader(trx),

    async add(holder, kind, endsAt, amount) {
      const { used } = await trx
        .insertInto("usage_counts")
        .values({ holder, kind, ends_at: endsAt, used: amount })
        .onConflict((conflict) =>
          conflict.columns(["holder", "kind", "ends_at"]).doUpdateSet((eb) => ({
            used: sql<number>`${eb.ref("usage_counts.used")} + ${eb.ref("excluded.used")}`,
          })),
        )
        .returning("used")
        .executeTakeFirstOrThrow();
      return used;
    },
  };
}

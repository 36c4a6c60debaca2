/** Counts attempts per time window, shared by all processes. */
import { type Kysely, sql } from "kysely";
import type { RateLimitCounter } from "../core/rate-limit-port.ts";
import { HOUR } from "../core/clock.ts";
import type { Store } from "./store.ts";
import type { Schema } from "./schema.ts";

/** How long a count is kept after its window, in milliseconds: another process's clock may be behind. */
export const COUNT_RETENTION_MS = HOUR;
/** Maximum number of old counts purged per attempt, so that no attempt purges all of them. */
const PURGE_LIMIT = 50;

/** Deletes up to `limit` counts whose window is over; returns whether there may be more. */
export async function purgeRateLimitCounts(
  trx: Kysely<Schema>,
  now: number,
  limit: number,
): Promise<boolean> {
  const old = trx
    .selectFrom("attempt_counts")
    .select("key")
    .where("ends_at", "<=", now - COUNT_RETENTION_MS)
    .orderBy("ends_at")
    .limit(limit);
  const { numDeletedRows } = await trx
    .deleteFrom("attempt_counts")
    .where("key", "in", old)
    .executeTakeFirstOrThrow();
  return numDeletedRows >= BigInt(limit);
}

export function rateLimitCounter({
  read,
  transaction,
}: Pick<Store, "read" | "transaction">): RateLimitCounter {
  return {
    async read(keys, now) {
      if (keys.length === 0) return [];
      const rows = await read
        .selectFrom("attempt_counts")
        .selectAll()
        .where("key", "in", keys)
        .where("ends_at", ">", now)
        .execute();
      const rowsByKey = new Map(rows.map((row) => [row.key, row]));
      return keys.map((key) => {
        const row = rowsByKey.get(key);
        return { count: row?.count ?? 0, endsAt: row?.ends_at ?? 0 };
      });
    },

    increment: (keys, now) =>
      transaction(async (trx) => {
        await purgeRateLimitCounts(trx, now, PURGE_LIMIT);
        const counts = [];
        for (const { key, windowMs } of keys) {
          const first = { count: 1, ends_at: now + windowMs };
          const row = await trx
            .insertInto("attempt_counts")
            .values({ key, ...first })
            .onConflict((conflict) =>
              conflict.column("key").doUpdateSet((eb) => {
                const windowOver = eb("attempt_counts.ends_at", "<=", now);
                const next = sql<number>`${eb.ref("attempt_counts.count")} + 1`;
                return {
                  count: eb.case().when(windowOver).then(first.count).else(next).end(),
                  ends_at: eb
                    .case()
                    .when(windowOver)
                    .then(first.ends_at)
                    .else(eb.ref("attempt_counts.ends_at"))
                    .end(),
                };
              }),
            )
            .returning(["count", "ends_at"])
            .executeTakeFirstOrThrow();
          counts.push({ count: row.count, endsAt: row.ends_at });
        }
        return counts;
      }),

    async refund(counts) {
      if (counts.length === 0) return;
      await transaction(async (trx) => {
        for (const { key, endsAt } of counts) {
          await trx
            .updateTable("attempt_counts")
            .set((eb) => ({ count: eb("count", "-", 1) }))
            .where("key", "=", key)
            .where("ends_at", "=", endsAt)
            .where("count", ">", 0)
            .execute();
        }
      });
    },

    async clear(keys) {
      if (keys.length === 0) return;
      await transaction(async (trx) => {
        await trx.deleteFrom("attempt_counts").where("key", "in", keys).execute();
      });
    },
  };
}

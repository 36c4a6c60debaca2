/** Counts the usage of keys and users: one row per subject, kind and window, shared by all processes. */
import type { Kysely } from "kysely";
import type { UsageReader, UsageWriter } from "../core/run-ports.ts";
import type { MeteredResource } from "../core/usage-limits.ts";
import { COUNT_RETENTION_MS } from "./rate-limit-counts.ts";
import type { Schema } from "./schema.ts";

/** Deletes up to `limit` counts of windows that are over. @returns whether there may be more */
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
    async usedInWindow(subject, kind, endsAt) {
      const row = await db
        .selectFrom("usage_counts")
        .select("used")
        .where("holder", "=", subject)
        .where("kind", "=", kind)
        .where("ends_at", "=", endsAt)
        .executeTakeFirst();
      return row?.used ?? 0;
    },
  };
}

/** Counts usage inside the transaction that records it. */
export function usageWriter(trx: Kysely<Schema>): UsageWriter {
  /** One statement, so that no concurrent add is lost. @returns the sum; undefined when it would exceed `max` */
  async function addUpTo(
    max: number,
    window: { subject: string; kind: MeteredResource; endsAt: number },
    amount: number,
  ): Promise<number | undefined> {
    if (amount > max) return undefined;
    const row = await trx
      .insertInto("usage_counts")
      .values({ holder: window.subject, kind: window.kind, ends_at: window.endsAt, used: amount })
      .onConflict((conflict) => {
        const added = conflict
          .columns(["holder", "kind", "ends_at"])
          .doUpdateSet((eb) => ({ used: eb("usage_counts.used", "+", eb.ref("excluded.used")) }));
        return max === Infinity ? added : added.where("usage_counts.used", "<=", max - amount);
      })
      .returning("used")
      .executeTakeFirst();
    return row?.used;
  }

  return {
    ...usageReader(trx),

    add: async (subject, kind, endsAt, amount) =>
      (await addUpTo(Infinity, { subject, kind, endsAt }, amount))!,

    reserve: async (subject, kind, endsAt, { amount, max }) =>
      (await addUpTo(max, { subject, kind, endsAt }, amount)) !== undefined,
  };
}

/** Counts the usage of keys and users: one row per subject, kind and window, shared by all processes. */
import type { Kysely } from "kysely";
import type { UsageReader, UsageWriter } from "../core/run-ports.ts";
import type { MeteredResource } from "../core/usage-limits.ts";
import { prepared } from "./prepared.ts";
import { projectReader } from "./projects.ts";
import { COUNT_RETENTION_MS } from "./rate-limit-counts.ts";
import type { Schema } from "./schema.ts";
import { storedBytes } from "./stored-bytes.ts";

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

const findUsed = prepared((db, subject: string, kind: MeteredResource, endsAt: number) =>
  db
    .selectFrom("usage_counts")
    .select("used")
    .where("holder", "=", subject)
    .where("kind", "=", kind)
    .where("ends_at", "=", endsAt),
);

/** One statement, so that no concurrent add is lost. It returns the sum, or nothing when it would exceed the maximum. */
const addUpTo = prepared(
  (db, subject: string, kind: MeteredResource, endsAt: number, amount: number, maxBefore: number) =>
    db
      .insertInto("usage_counts")
      .values({ holder: subject, kind, ends_at: endsAt, used: amount })
      .onConflict((conflict) =>
        conflict
          .columns(["holder", "kind", "ends_at"])
          .doUpdateSet((eb) => ({ used: eb("usage_counts.used", "+", eb.ref("excluded.used")) }))
          .where("usage_counts.used", "<=", maxBefore),
      )
      .returning("used"),
);

/** Reads the counts through `db`: a connection, or a transaction. */
export function usageReader(db: Kysely<Schema>): UsageReader {
  return {
    usedInWindow: async (subject, kind, endsAt) => (await findUsed(db, subject, kind, endsAt))[0]?.used ?? 0,
    storedBytes: (subject) => storedBytes(db, subject),
    projectLimits: async (project) => (await projectReader(db).find(project))?.limits ?? null,
  };
}

/** Counts usage inside the transaction that records it. */
export function usageWriter(trx: Kysely<Schema>): UsageWriter {
  return {
    ...usageReader(trx),

    async add(subject, kind, endsAt, amount) {
      const [row] = await addUpTo(trx, subject, kind, endsAt, amount, Number.MAX_SAFE_INTEGER);
      return row!.used;
    },

    reserve: async (subject, kind, endsAt, { amount, max }) =>
      amount <= max && (await addUpTo(trx, subject, kind, endsAt, amount, max - amount)).length > 0,
  };
}

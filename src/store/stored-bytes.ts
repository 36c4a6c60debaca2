/**
 * Counts the bytes that each owner stores: the inputs, outputs and definitions of their runs, and the versions and states
 * of workflows that they wrote. An equal value that is stored once counts for everyone who has it, so a count says nothing about others' values.
 */
import { type Kysely, sql } from "kysely";
import { OPERATOR } from "../../schemas/actor.ts";
import { encodeJson } from "../core/encoded-json.ts";
import { usageSubjectOf } from "../core/usage-limits.ts";
import { prepared } from "./prepared.ts";
import { storeJson } from "./run-values.ts";
import type { Schema } from "./schema.ts";

/** Rows of a count, of which a transaction changes one: transactions of one owner rarely wait for each other. */
const SHARDS = 8;

const addToCount = prepared((db, subject: string, shard: number, bytes: number) =>
  db
    .insertInto("stored_bytes")
    .values({ subject, shard, bytes })
    .onConflict((conflict) =>
      conflict
        .columns(["subject", "shard"])
        .doUpdateSet((eb) => ({ bytes: eb("stored_bytes.bytes", "+", eb.ref("excluded.bytes")) })),
    ),
);
const addToRun = prepared((db, id: string, bytes: number) =>
  db
    .updateTable("runs")
    .set((eb) => ({ stored_bytes: eb("stored_bytes", "+", bytes) }))
    .where("id", "=", id)
    .returning(["owner", "lineage"]),
);
const sumOf = prepared((db, subject: string) =>
  db
    .selectFrom("stored_bytes")
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number | string>("bytes"), sql.lit(0)).as("bytes"))
    .where("subject", "=", subject),
);

/** The bytes that a usage subject (usage-limits.ts) stores. */
export async function storedBytes(db: Kysely<Schema>, subject: string): Promise<number> {
  const [row] = await sumOf(db, subject);
  return Number(row!.bytes);
}

/** The subjects that store the most, with their bytes, at most `limit` of them. */
export async function largestStoredBytes(
  db: Kysely<Schema>,
  limit: number,
): Promise<{ subject: string; bytes: number }[]> {
  const rows = await db
    .selectFrom("stored_bytes")
    .select((eb) => ["subject" as const, eb.fn.sum<number | string>("bytes").as("bytes")])
    .groupBy("subject")
    .orderBy("bytes", "desc")
    .orderBy("subject")
    .limit(limit)
    .execute();
  return rows.map(({ subject, bytes }) => ({ subject, bytes: Number(bytes) }));
}

/** Adds to the count of a subject; a negative number subtracts. */
export async function addStoredBytes(trx: Kysely<Schema>, subject: string, bytes: number): Promise<void> {
  if (bytes === 0) return;
  await addToCount(trx, subject, Math.floor(Math.random() * SHARDS), bytes);
}

/** Collects what a transaction stores for runs, and adds it to their counts at its end. */
export interface ByteCounter {
  /** Counts a text that a run stores. */
  add(runId: string, text: string): void;
  /** The bytes that were counted for a run since the last `flush`. */
  pending(runId: string): number;
  /** Writes the counts: once, as the last change of the transaction. */
  flush(): Promise<void>;
}

export function byteCounter(trx: Kysely<Schema>): ByteCounter {
  const byRun = new Map<string, number>();
  return {
    add(runId, text) {
      byRun.set(runId, (byRun.get(runId) ?? 0) + Buffer.byteLength(text));
    },
    pending: (runId) => byRun.get(runId) ?? 0,
    async flush() {
      const bySubject = new Map<string, number>();
      for (const [runId, bytes] of byRun) {
        const [run] = await addToRun(trx, runId, bytes);
        if (run === undefined) continue;
        const subject = usageSubjectOf(run);
        bySubject.set(subject, (bySubject.get(subject) ?? 0) + bytes);
      }
      byRun.clear();
      // In one order everywhere, so that transactions never wait for each other in a circle.
      for (const subject of [...bySubject.keys()].toSorted())
        await addStoredBytes(trx, subject, bySubject.get(subject)!);
    },
  };
}

/** Returns a function that encodes a value of a run for its column (run-values.ts), and counts it. */
export const valueEncoder =
  (trx: Kysely<Schema>, bytes: ByteCounter) =>
  (runId: string, value: unknown): Promise<string> => {
    const { text: json } = encodeJson(value);
    bytes.add(runId, json);
    return storeJson(trx, runId, json);
  };

/** The bytes of each run, version and state, with their subjects. */
const storedParts = sql`
  select case when owner = ${sql.lit(OPERATOR)} then lineage else owner end as subject, stored_bytes as bytes from runs
  union all
  select subject, stored_bytes as bytes from workflow_versions
  union all
  select subject, stored_bytes as bytes from workflow_states`;

/** The subjects whose count differs from the sum of what is stored, by how much it is too low. It reads all runs. */
export async function storedBytesErrors(db: Kysely<Schema>): Promise<{ subject: string; missing: number }[]> {
  const { rows } = await sql<{ subject: string; missing: number }>`
    select subject, sum(bytes) as missing from (
      ${storedParts} union all select subject, -bytes as bytes from stored_bytes
    ) as parts group by subject having sum(bytes) <> 0 order by subject`.execute(db);
  return rows;
}

/** Replaces all counts by the sums of what is stored. */
export async function recountStoredBytes(trx: Kysely<Schema>): Promise<void> {
  await trx.deleteFrom("stored_bytes").execute();
  await sql`
    insert into stored_bytes (subject, shard, bytes)
    select subject, 0, sum(bytes) from (${storedParts}) as parts group by subject`.execute(trx);
}

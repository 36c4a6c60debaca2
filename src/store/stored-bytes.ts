/**
 * Counts the bytes that each owner stores: the inputs, outputs and definitions of their runs, the versions and states
 * of workflows that they wrote, and the definitions and given outputs of their backtests. An equal value that is stored once
 * counts for everyone who has it, so a count says nothing about others' values.
 * All of it counts for its project too. Only the default project has no count of its own: it has what the others do not have.
 */
import { type Kysely, sql } from "kysely";
import { OPERATOR } from "../../schemas/actor.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import { encodeJson } from "../core/encoded-json.ts";
import { PROJECT_SUBJECT, usageSubjectOf } from "../core/usage-limits.ts";
import { prepared, preparedWrite } from "./prepared.ts";
import { storeJson } from "./run-values.ts";
import type { Schema } from "./schema.ts";

/** Rows of a count, of which a transaction changes one: transactions of one owner rarely wait for each other. */
const SHARDS = 8;

const addToCount = preparedWrite((db, subject: string, shard: number, bytes: number) =>
  db
    .insertInto("stored_bytes")
    .values({ subject, shard, bytes })
    .onConflict((conflict) =>
      conflict
        .columns(["subject", "shard"])
        .doUpdateSet((eb) => ({ bytes: eb("stored_bytes.bytes", "+", eb.ref("excluded.bytes")) })),
    ),
);
const addToRun = preparedWrite((db, id: string, bytes: number) =>
  db
    .updateTable("runs")
    .set((eb) => ({ stored_bytes: eb("stored_bytes", "+", bytes) }))
    .where("id", "=", id),
);
const holdersOfRun = prepared((db, id: string) =>
  db.selectFrom("runs").select(["owner", "lineage", "project"]).where("id", "=", id),
);
const sumOf = prepared((db, subject: string) =>
  db
    .selectFrom("stored_bytes")
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number | string>("bytes"), sql.lit(0)).as("bytes"))
    .where("subject", "=", subject),
);

const isProject = sql<boolean>`substr(subject, 1, ${sql.lit(PROJECT_SUBJECT.length)}) = ${sql.lit(PROJECT_SUBJECT)}`;
const sumOfDefaultProject = prepared((db) =>
  db
    .selectFrom("stored_bytes")
    .select(
      sql<number | string>`coalesce(sum(case when ${isProject} then -bytes else bytes end), 0)`.as("bytes"),
    ),
);
const DEFAULT_SUBJECT = `${PROJECT_SUBJECT}${DEFAULT_PROJECT}`;

/** The bytes that a usage subject (usage-limits.ts) stores: an owner, or a project. */
export async function storedBytes(db: Kysely<Schema>, subject: string): Promise<number> {
  const [row] = await (subject === DEFAULT_SUBJECT ? sumOfDefaultProject(db) : sumOf(db, subject));
  return Number(row!.bytes);
}

/** The owners, or the projects besides the default one, that store the most, with their bytes, at most `limit` of them. */
export async function largestStoredBytes(
  db: Kysely<Schema>,
  kind: "owners" | "projects",
  limit: number,
): Promise<{ subject: string; bytes: number }[]> {
  const rows = await db
    .selectFrom("stored_bytes")
    .select((eb) => ["subject" as const, eb.fn.sum<number | string>("bytes").as("bytes")])
    .where((eb) => (kind === "projects" ? isProject : eb.not(isProject)))
    .groupBy("subject")
    .orderBy("bytes", "desc")
    .orderBy("subject")
    .limit(limit)
    .execute();
  return rows.map(({ subject, bytes }) => ({ subject, bytes: Number(bytes) }));
}

/** Something that is stored: its owner, its project, and its bytes; a negative number is deleted. */
export interface StoredPart {
  /** The usage subject of its owner. */
  subject: string;
  project: string;
  bytes: number;
}

/** Adds what is stored to the counts of its owners and projects. */
export async function addStoredBytes(trx: Kysely<Schema>, parts: readonly StoredPart[]): Promise<void> {
  const bySubject = new Map<string, number>();
  const add = (subject: string, bytes: number): void =>
    void bySubject.set(subject, (bySubject.get(subject) ?? 0) + bytes);
  for (const { subject, project, bytes } of parts) {
    add(subject, bytes);
    if (project !== DEFAULT_PROJECT) add(`${PROJECT_SUBJECT}${project}`, bytes);
  }
  // In one order everywhere, so that transactions never wait for each other in a circle.
  for (const [subject, bytes] of [...bySubject].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    if (bytes !== 0) await addToCount(trx, subject, Math.floor(Math.random() * SHARDS), bytes);
}

/** Adds bytes to the counts of projects. The default one has none of its own. */
async function addToProjects(
  trx: Kysely<Schema>,
  changes: readonly (readonly [project: string, bytes: number])[],
): Promise<void> {
  // In one order everywhere, so that transactions never wait for each other in a circle.
  for (const [project, bytes] of changes.toSorted(([a], [b]) => (a < b ? -1 : 1)))
    if (bytes !== 0 && project !== DEFAULT_PROJECT)
      await addToCount(trx, `${PROJECT_SUBJECT}${project}`, Math.floor(Math.random() * SHARDS), bytes);
}

/** Counts the versions and the state of a workflow, with its history, for another project. Its runs stay where they are. */
export async function moveStoredBytes(
  trx: Kysely<Schema>,
  workflowId: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  const sumIn = async (table: "workflow_versions" | "workflow_states" | "state_changes"): Promise<number> => {
    const { bytes } = await trx
      .selectFrom(table)
      .select((eb) => eb.fn.sum<number | string | null>("stored_bytes").as("bytes"))
      .where("workflow_id", "=", workflowId)
      .executeTakeFirstOrThrow();
    return Number(bytes ?? 0);
  };
  const bytes =
    (await sumIn("workflow_versions")) + (await sumIn("workflow_states")) + (await sumIn("state_changes"));
  await addToProjects(trx, [
    [from, -bytes],
    [to, bytes],
  ]);
}

/** For whom the bytes of a run count. */
type RunHolders = Pick<StoredPart, "subject" | "project">;

/** Collects what a transaction stores for runs, and adds it to their counts at its end. */
export interface ByteCounter {
  /** Counts a text that a run stores. */
  add(runId: string, text: string): void;
  /** Sets for whom the bytes of a run count; left out, they are read. */
  setHolders(runId: string, holders: RunHolders): void;
  /** The bytes that were counted for a run since the last `flush`. */
  pending(runId: string): number;
  /** Writes the counts: once, as the last change of the transaction. */
  flush(): Promise<void>;
}

export function byteCounter(trx: Kysely<Schema>): ByteCounter {
  const byRun = new Map<string, number>();
  const holders = new Map<string, RunHolders>();

  async function readHolders(runId: string): Promise<RunHolders | undefined> {
    const [run] = await holdersOfRun(trx, runId);
    return run && { subject: usageSubjectOf(run), project: run.project };
  }

  return {
    add(runId, text) {
      byRun.set(runId, (byRun.get(runId) ?? 0) + Buffer.byteLength(text));
    },
    setHolders: (runId, found) => void holders.set(runId, found),
    pending: (runId) => byRun.get(runId) ?? 0,
    async flush() {
      const parts: StoredPart[] = [];
      for (const [runId, added] of byRun) {
        const found = holders.get(runId) ?? (await readHolders(runId));
        if (found === undefined) continue;
        await addToRun(trx, runId, added);
        parts.push({ ...found, bytes: added });
      }
      byRun.clear();
      await addStoredBytes(trx, parts);
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

/** The bytes of each run, version, state, backtest and bulk action, with their subjects: owners, and projects besides the default one. */
const storedParts = sql`
  select case when owner = ${sql.lit(OPERATOR)} then lineage else owner end as subject, stored_bytes as bytes from runs
  union all
  select subject, stored_bytes as bytes from workflow_versions
  union all
  select subject, stored_bytes as bytes from workflow_states
  union all
  select subject, stored_bytes as bytes from state_changes
  union all
  select subject, stored_bytes as bytes from backtests
  union all
  select subject, stored_bytes as bytes from bulk_actions
  union all
  select ${sql.lit(PROJECT_SUBJECT)} || project as subject, stored_bytes as bytes
  from runs where project <> ${sql.lit(DEFAULT_PROJECT)}
  union all
  select ${sql.lit(PROJECT_SUBJECT)} || project as subject, stored_bytes as bytes
  from backtests where project <> ${sql.lit(DEFAULT_PROJECT)}
  union all
  select ${sql.lit(PROJECT_SUBJECT)} || project as subject, stored_bytes as bytes
  from bulk_actions where project <> ${sql.lit(DEFAULT_PROJECT)}
  union all
  select ${sql.lit(PROJECT_SUBJECT)} || w.project as subject, v.stored_bytes as bytes
  from workflow_versions v join workflows w on w.id = v.workflow_id where w.project <> ${sql.lit(DEFAULT_PROJECT)}
  union all
  select ${sql.lit(PROJECT_SUBJECT)} || w.project as subject, s.stored_bytes as bytes
  from workflow_states s join workflows w on w.id = s.workflow_id where w.project <> ${sql.lit(DEFAULT_PROJECT)}
  union all
  select ${sql.lit(PROJECT_SUBJECT)} || w.project as subject, c.stored_bytes as bytes
  from state_changes c join workflows w on w.id = c.workflow_id where w.project <> ${sql.lit(DEFAULT_PROJECT)}`;

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

/** Opens a database for inspection without changing it: it is not created, marked or migrated, and keeps its journal mode. */
import { type Kysely, sql } from "kysely";
import { iso, MINUTE } from "../core/clock.ts";
import { APPLICATION_ID, connect, uncheckedConnection } from "./database.ts";
import { type MigrationStatus, getMigrationStatus } from "./migrate.ts";
import { movedTo } from "./moved-state.ts";
import type { Schema } from "./schema.ts";
import { retryWhileBusy } from "./sqlite-driver.ts";
import type { StateDirectory } from "./state-directory.ts";

export interface DatabaseInspection {
  /** Whether Millrace created the database, or it is empty. */
  isMillraceDatabase: boolean;
  journalMode: string;
  /**
   * The place of the database that the state was moved to; undefined if it was not moved.
   * @throws AppError storage_unavailable, busy
   */
  movedTo(): Promise<string | undefined>;
  /** @throws AppError storage_unavailable, busy */
  migrationStatus(): Promise<MigrationStatus>;
  read: Kysely<Schema>;
  /** The problems that SQLite finds. It takes long. @param full whether to check the indexes too */
  checkIntegrity(full: boolean): string[];
  close(): Promise<void>;
}

/**
 * Opens an existing database.
 * @throws AppError storage_unavailable when it is damaged or can't be read, busy
 */
export async function inspectDatabase({
  databaseFile,
}: Pick<StateDirectory, "databaseFile">): Promise<DatabaseInspection> {
  const db = await retryWhileBusy(() => connect(databaseFile, true));
  db.pragma("query_only = ON");
  const pragma = (name: string) => retryWhileBusy(() => db.pragma(name, { simple: true }));
  const read = uncheckedConnection(db);
  const id = await pragma("application_id");
  const tables = await retryWhileBusy(() => db.prepare("select count(*) from sqlite_schema").pluck().get());
  return {
    isMillraceDatabase: id === APPLICATION_ID || (id === 0 && tables === 0),
    journalMode: String(await pragma("journal_mode")),
    movedTo: async () => (id === APPLICATION_ID ? retryWhileBusy(() => movedTo(db)) : undefined),
    migrationStatus: () => getMigrationStatus(read),
    read,
    checkIntegrity: (full) =>
      (db.pragma(full ? "integrity_check(10)" : "quick_check(10)") as Record<string, string>[])
        .flatMap((row) => Object.values(row))
        .filter((message) => message !== "ok"),
    async close() {
      await read.destroy();
      // Kysely closes only what was used.
      db.close();
    },
  };
}

/** Maximum number of keys or runs to list. */
const MAX_LISTED = 10;

/** Valid keys without a successor that expire by `until`, soonest first. */
export const expiringApiKeys = (db: Kysely<Schema>, now: string, until: string) =>
  db
    .selectFrom("api_keys")
    .select(["id", "name", "owner", "expires_at"])
    .where("revoked_at", "is", null)
    // An application renews its own.
    .where("application", "is", null)
    .where("expires_at", ">", now)
    .where("expires_at", "<=", until)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("api_keys as successor")
            .select("successor.id")
            .whereRef("successor.lineage", "=", "api_keys.lineage")
            .whereRef("successor.created_at", ">", "api_keys.created_at"),
        ),
      ),
    )
    .orderBy("expires_at")
    .limit(MAX_LISTED)
    .execute();

/** Unfinished runs that nothing can continue: they have no job, no pending approval and no unfinished child run. */
export async function stuckRuns(db: Kysely<Schema>, now: number): Promise<string[]> {
  const rows = await db
    .selectFrom("runs")
    .select("id")
    .where("finished_at", "is", null)
    .where("admitted", "=", 1)
    .where("created_at", "<", iso(now - MINUTE))
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("jobs").select("jobs.id").whereRef("jobs.run_id", "=", "runs.id"))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("approvals")
            .select("approvals.id")
            .whereRef("approvals.run_id", "=", "runs.id")
            .where("approvals.status", "=", "pending"),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("runs as child")
            .select("child.id")
            .whereRef("child.parent_run", "=", "runs.id")
            .where("child.finished_at", "is", null),
        ),
      ),
    )
    .limit(MAX_LISTED)
    .execute();
  return rows.map(({ id }) => id);
}

/** The latest timestamp that any process recorded; undefined for an empty database. */
export async function latestTimestamp(db: Kysely<Schema>): Promise<string | undefined> {
  const found = await Promise.all([
    db.selectFrom("audit_log").select("at").orderBy("id", "desc").limit(1).executeTakeFirst(),
    db
      .selectFrom("runs")
      .select("created_at as at")
      .orderBy("created_at", "desc")
      .limit(1)
      .executeTakeFirst(),
    db
      .selectFrom("executors")
      .select("started_at as at")
      .orderBy("started_at", "desc")
      .limit(1)
      .executeTakeFirst(),
  ]);
  return found
    .flatMap((row) => (row === undefined ? [] : [row.at]))
    .toSorted()
    .at(-1);
}

/** The claims of executors that say what they run, and of those that are not on record. */
export const claimedJobs = (db: Kysely<Schema>) =>
  db
    .selectFrom("jobs")
    .leftJoin("executors", "executors.id", "jobs.executor")
    .select(["jobs.id", "jobs.fence", "jobs.run_id", "jobs.executor", "executors.running"])
    .where("jobs.state", "=", sql.lit("claimed"))
    .where((eb) => eb.or([eb("executors.running", "is not", null), eb("executors.id", "is", null)]))
    .execute();

/** The first job that is ready, with the creation time of its run; undefined when there is none. */
export const firstReadyJob = (db: Kysely<Schema>) =>
  db
    .selectFrom("jobs")
    .innerJoin("runs", "runs.id", "jobs.run_id")
    .select(["jobs.id", "jobs.run_id", "runs.created_at"])
    .where("jobs.state", "=", "ready")
    .orderBy("jobs.id")
    .limit(1)
    .executeTakeFirst();

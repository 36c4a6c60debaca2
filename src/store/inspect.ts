/** A look at a database that changes nothing: it is not made, not marked, not migrated, and its journal stays. */
import { Kysely } from "kysely";
import { iso, MINUTE } from "../core/clock.ts";
import { APPLICATION_ID, connect } from "./database.ts";
import { type MigrationStatus, getMigrationStatus } from "./migrate.ts";
import type { Schema } from "./schema.ts";
import { sqliteDialect, retryWhileBusy } from "./sqlite-driver.ts";
import type { StateDirectory } from "./state-directory.ts";

export interface DatabaseInspection {
  /** Whether it is an instance's: another program's has no tables that could be read. */
  isMillraceDatabase: boolean;
  journalMode: string;
  /** Where its migrations stand. @throws AppError storage_unavailable, busy */
  migrationStatus(): Promise<MigrationStatus>;
  read: Kysely<Schema>;
  /** The faults that SQLite finds; none for a sound one. It takes long. @param full whether indexes are compared too */
  checkIntegrity(full: boolean): string[];
  close(): Promise<void>;
}

/**
 * Opens a database that is there.
 * @throws AppError storage_unavailable when it is damaged or can't be read, busy
 */
export async function inspectDatabase({
  databaseFile,
}: Pick<StateDirectory, "databaseFile">): Promise<DatabaseInspection> {
  const db = await retryWhileBusy(() => connect(databaseFile, true));
  db.pragma("query_only = ON");
  const pragma = (name: string) => retryWhileBusy(() => db.pragma(name, { simple: true }));
  const read = new Kysely<Schema>({
    dialect: sqliteDialect(db, { exclusive: false, assertInPlace: ignore, onFailure: ignore }),
  });
  const id = await pragma("application_id");
  const tables = await retryWhileBusy(() => db.prepare("select count(*) from sqlite_schema").pluck().get());
  return {
    isMillraceDatabase: id === APPLICATION_ID || (id === 0 && tables === 0),
    journalMode: String(await pragma("journal_mode")),
    migrationStatus: () => getMigrationStatus(read),
    read,
    checkIntegrity: (full) =>
      (db.pragma(full ? "integrity_check(10)" : "quick_check(10)") as Record<string, string>[])
        .flatMap((row) => Object.values(row))
        .filter((it) => it !== "ok"),
    close: () => read.destroy(),
  };
}

const ignore = (): void => undefined;

/** So many of each are named. */
const NAMED = 10;

/** Living keys that end before `until`, soonest first, but for those that have a successor. */
export const expiringApiKeys = (db: Kysely<Schema>, now: string, until: string) =>
  db
    .selectFrom("api_keys")
    .select(["id", "name", "owner", "expires_at"])
    .where("revoked_at", "is", null)
    .where("expires_at", ">", now)
    .where("expires_at", "<=", until)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("api_keys as later")
            .select("later.id")
            .whereRef("later.lineage", "=", "api_keys.lineage")
            .whereRef("later.created_at", ">", "api_keys.created_at"),
        ),
      ),
    )
    .orderBy("expires_at")
    .limit(NAMED)
    .execute();

/** Runs for which nothing is left that could carry them on: no job, no approval, no run that they started. */
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
    .limit(NAMED)
    .execute();
  return rows.map(({ id }) => id);
}

/** The latest moment that any process has written down; undefined for an empty state. */
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

/** The first job that is ready, and when its run was made; undefined where none is. */
export const firstReadyJob = (db: Kysely<Schema>) =>
  db
    .selectFrom("jobs")
    .innerJoin("runs", "runs.id", "jobs.run_id")
    .select(["jobs.id", "jobs.run_id", "runs.created_at"])
    .where("jobs.state", "=", "ready")
    .orderBy("jobs.id")
    .limit(1)
    .executeTakeFirst();

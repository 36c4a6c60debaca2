/** Creates backups of a running instance, and databases from backups. */
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { sql } from "kysely";
import { AppError } from "../core/errors.ts";
import { SEARCH_TRIGGERS, tableNames } from "./dialect.ts";
import { type DatabaseInspection, inspectDatabase } from "./inspect.ts";
import { getMigrationStatus } from "./migrate.ts";
import { movedStateAdvice } from "./moved-state.ts";
import { resetTransientState, type RestoreCleanup } from "./restore-cleanup.ts";
import { copyDatabase, removePartial } from "./database-copy.ts";
import { isUnreachable } from "./sqlite-errors.ts";

/** Names of the rows in `settings` that only backups have. */
const BACKUP_SETTINGS = { at: "backup_at", release: "backup_release" } as const;
const MAX_REPORTED_PROBLEMS = 3;

/** The contents of a database, for the output of backup and restore. */
export interface DatabaseSummary {
  /** When the backup was created; null for a copy that `millrace backup` did not create. */
  createdAt: string | null;
  /** The release that created the backup. */
  createdByRelease: string | null;
  /** The newest applied migration. */
  migration: number;
  /** The newest migration of this release, which the next start applies. */
  newest: number;
  rows: Record<(typeof COUNTED_TABLES)[number], number>;
  unfinishedRuns: number;
}

/** Tables whose rows are reported. */
const COUNTED_TABLES = [
  "workflows",
  "workflow_versions",
  "runs",
  "approvals",
  "schedules",
  "users",
  "api_keys",
  "audit_log",
] as const;

/**
 * Copies the database of a state directory that may be in use, and verifies the copy.
 * @param partial the file to create; it is complete and synced when the promise resolves
 * @param mark the time and release of the backup
 * @throws AppError storage_unavailable, busy; the file is removed then
 */
export async function createBackup(
  { databaseFile, partial }: { databaseFile: string; partial: string },
  mark: { at: string; release: string },
): Promise<DatabaseSummary> {
  const label = `The database ${databaseFile}`;
  const source = await inspectContents(databaseFile, label, false);
  copyDatabase(databaseFile, partial);
  const { contents } = await finalizeDatabase(partial, label, (copy) => {
    const insert = copy.prepare("insert or replace into settings (name, value) values (?, ?)");
    insert.run(BACKUP_SETTINGS.at, mark.at);
    insert.run(BACKUP_SETTINGS.release, mark.release);
  });
  // Versions are never deleted, so fewer of them mean an incomplete copy.
  if (contents.rows.workflow_versions < source.rows.workflow_versions) {
    removePartial(partial);
    throw damaged(label, ["its copy lacks versions of workflows"]);
  }
  return contents;
}

/**
 * Creates a database from a backup, and verifies both. Sessions, links and claimed jobs of the backup's time are ended.
 * @param partial the file to create; it is complete and synced when the promise resolves
 * @param at the time of the restore (ISO 8601), for the audit log
 * @throws AppError storage_unavailable, busy; the file is removed then
 */
export async function createRestoredDatabase(
  { file, partial }: { file: string; partial: string },
  at: string,
): Promise<{ contents: DatabaseSummary; cleanup: RestoreCleanup }> {
  const contents = await inspectContents(file, file, true, true);
  copyDatabase(file, partial, { readonly: true });
  const { result: cleanup } = await finalizeDatabase(partial, file, (copy) => {
    copy
      .prepare("delete from settings where name in (?, ?)")
      .run(BACKUP_SETTINGS.at, BACKUP_SETTINGS.release);
    return resetTransientState(copy, { at, backup: contents.createdAt });
  });
  return { contents, cleanup };
}

/** Changes a new copy, verifies it and syncs it to the disk. @param label names the database in messages */
async function finalizeDatabase<T>(
  partial: string,
  label: string,
  change: (copy: Database.Database) => T | Promise<T>,
): Promise<{ result: T; contents: DatabaseSummary }> {
  const copy = new Database(partial, { timeout: 0, fileMustExist: true });
  try {
    // The journal is in memory, so there is only one file; the commit syncs all of it, with what was copied before.
    copy.pragma("journal_mode = MEMORY");
    copy.pragma("synchronous = FULL");
    copy.exec("begin immediate");
    const result = await change(copy);
    copy.exec("commit");
    // While the copy is locked, other processes don't remove it as a stale one.
    copy.exec("begin immediate");
    const contents = await inspectContents(partial, label, true);
    copy.close();
    return { result, contents };
  } catch (error) {
    copy.close();
    removePartial(partial);
    throw error;
  }
}

/**
 * Checks that a file is a Millrace database which this release can use, and counts its contents.
 * @param label names the database in messages
 * @param thorough whether to verify all of its content, which takes as long as reading the file
 * @param untrusted whether others may have changed the file, so that it may contain triggers
 * @throws AppError storage_unavailable, busy
 */
async function inspectContents(
  databaseFile: string,
  label: string,
  thorough: boolean,
  untrusted = false,
): Promise<DatabaseSummary> {
  let database: DatabaseInspection | undefined;
  try {
    database = await inspectDatabase({ databaseFile });
    if (!database.isMillraceDatabase)
      throw new AppError("storage_unavailable", `${label} is the database of another program.`);
    const movedTo = await database.movedTo();
    if (movedTo !== undefined) throw moved(movedTo, { databaseFile, label, isBackup: untrusted });
    const { applied, newest } = await getMigrationStatus(database.read, { label });
    if (applied === 0)
      throw new AppError("storage_unavailable", `${label} is empty: Millrace has never used it.`);
    if (thorough) {
      const issues = [
        ...database.checkIntegrity(true),
        ...(await brokenReferences(database)),
        ...(untrusted ? await triggers(database) : []),
      ];
      if (issues.length > 0) throw damaged(label, issues);
    }
    return { migration: applied, newest, ...(await contentsOf(database)) };
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    // SQLite's own message: the translated one is about the state directory, which is misleading for a backup.
    const { cause = error } = error as Error;
    throw damaged(label, [(cause as Error).message]);
  } finally {
    await database?.close();
  }
}

async function brokenReferences({ read }: DatabaseInspection): Promise<string[]> {
  const { rows } = await sql<{ table: string }>`
    select distinct "table" from pragma_foreign_key_check limit ${sql.lit(MAX_REPORTED_PROBLEMS)}`.execute(
    read,
  );
  return rows.map(({ table }) => `rows of ${table} refer to missing rows`);
}

/** Foreign triggers could change what is written, such as API keys. */
async function triggers({ read }: DatabaseInspection): Promise<string[]> {
  const { rows } = await sql<{ name: string; sql: string }>`
    select name, sql from sqlite_schema where type = 'trigger'`.execute(read);
  return rows
    .filter(({ name, sql: text }) => SEARCH_TRIGGERS[name] !== text)
    .map(({ name }) => `it has a trigger that Millrace did not create, ${JSON.stringify(name)}`);
}

async function contentsOf({
  read,
}: DatabaseInspection): Promise<
  Pick<DatabaseSummary, "createdAt" | "createdByRelease" | "rows" | "unfinishedRuns">
> {
  // Databases of older releases have fewer tables.
  const tables = await tableNames(read);
  const count = async (table: (typeof COUNTED_TABLES)[number], unfinished = false): Promise<number> => {
    if (!tables.has(table)) return 0;
    const { rows } = await read
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as("rows"))
      .$if(unfinished, (query) => query.where("finished_at" as never, "is", null))
      .executeTakeFirstOrThrow();
    return rows;
  };
  const rows = await Promise.all(COUNTED_TABLES.map(async (table) => [table, await count(table)] as const));
  const settings = await read
    .selectFrom("settings")
    .selectAll()
    .where("name", "in", Object.values(BACKUP_SETTINGS))
    .execute();
  const settingOf = (name: string): string | null =>
    settings.find((setting) => setting.name === name)?.value ?? null;
  return {
    createdAt: settingOf(BACKUP_SETTINGS.at),
    createdByRelease: settingOf(BACKUP_SETTINGS.release),
    rows: Object.fromEntries(rows) as DatabaseSummary["rows"],
    unfinishedRuns: await count("runs", true),
  };
}

/** @param to the place of the database that the state was moved to */
function moved(
  to: string,
  { databaseFile, label, isBackup }: { databaseFile: string; label: string; isBackup: boolean },
): AppError {
  const text = isBackup
    ? `${label} is a copy of a state that was moved to PostgreSQL (${to}). Nothing was created. Restore a dump of that database with ` +
      "pg_restore, or a backup from before the move. To use this copy nevertheless, put it into an empty state directory as millrace.db, " +
      "then run millrace migrate-state --reopen."
    : `${label} holds a state that was moved to PostgreSQL (${to}). Nothing was created. ${movedStateAdvice(dirname(databaseFile))}`;
  return new AppError("storage_unavailable", text);
}

const damaged = (label: string, issues: readonly string[]): AppError =>
  new AppError(
    "storage_unavailable",
    `${label} is damaged: ${issues.slice(0, MAX_REPORTED_PROBLEMS).join("; ")}. Nothing was created. Restore the newest undamaged backup.`,
  );

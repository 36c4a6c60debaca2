/** What a backup holds, how it is made out of a running state, and how a state is made out of it. */
import Database from "better-sqlite3";
import { sql } from "kysely";
import { AppError } from "../core/errors.ts";
import { type DatabaseInspection, inspectDatabase } from "./inspect.ts";
import { getMigrationStatus } from "./migrate.ts";
import { resetTransientState, type RestoreCleanup } from "./restore-cleanup.ts";
import { copyDatabase, removePartial } from "./database-copy.ts";
import { isUnreachable } from "./sqlite-errors.ts";

/** Rows of `settings` that only a backup has: nothing in its tables differs from those of a state. */
const MARKS = { at: "backup_at", release: "backup_release" } as const;
const MAX_REPORTED_PROBLEMS = 3;

/** What a database holds, as a backup and its restoration tell it. */
export interface DatabaseSummary {
  /** When the backup was made; null of a copy that `millrace backup` did not make. */
  createdAt: string | null;
  /** The release that made it. */
  createdByRelease: string | null;
  /** The newest migration that it has. */
  migration: number;
  /** The newest that this release knows: what the next start brings it to. */
  newest: number;
  rows: Record<(typeof COUNTED)[number], number>;
  unfinishedRuns: number;
}

/** Tables that people know by name. */
const COUNTED = [
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
 * Copies the database of a state directory, whatever else goes on there, and verifies the copy.
 * @param partial the file to make; it is whole, and on the disk, when this resolves
 * @param mark when and by which release
 * @throws AppError storage_unavailable, busy; then nothing is left of the file
 */
export async function createBackup(
  { databaseFile, partial }: { databaseFile: string; partial: string },
  mark: { at: string; release: string },
): Promise<DatabaseSummary> {
  const what = `The database ${databaseFile}`;
  const before = await lookAt(databaseFile, what, false);
  copyDatabase(databaseFile, partial);
  const { contents } = await finish(partial, what, (copy) => {
    const leave = copy.prepare("insert or replace into settings (name, value) values (?, ?)");
    leave.run(MARKS.at, mark.at);
    leave.run(MARKS.release, mark.release);
  });
  // Nothing ever removes a version.
  if (contents.rows.workflow_versions < before.rows.workflow_versions) {
    removePartial(partial);
    throw damaged(what, ["versions of workflows are missing in its copy"]);
  }
  return contents;
}

/**
 * Makes a database for a state directory out of a backup, verified before and after; what was open when it was made, and
 * is over now, is ended.
 * @param partial the file to make; it is whole, and on the disk, when this resolves
 * @param at the moment, for the audit log
 * @throws AppError storage_unavailable, busy; then nothing is left of the file
 */
export async function createRestoredDatabase(
  { file, partial }: { file: string; partial: string },
  at: string,
): Promise<{ contents: DatabaseSummary; cleanup: RestoreCleanup }> {
  const contents = await lookAt(file, file, true, true);
  copyDatabase(file, partial, { readonly: true });
  const { done } = await finish(partial, file, (copy) => {
    copy.prepare("delete from settings where name in (?, ?)").run(MARKS.at, MARKS.release);
    return resetTransientState(copy, { at, backup: contents.createdAt });
  });
  return { contents, cleanup: done };
}

/** Changes a fresh copy, verifies it and brings it to the disk. */
async function finish<T>(
  partial: string,
  what: string,
  change: (copy: Database.Database) => T,
): Promise<{ done: T; contents: DatabaseSummary }> {
  const copy = new Database(partial, { timeout: 0, fileMustExist: true });
  try {
    // One file from beginning to end; committing brings all of it to the disk, what was copied before too.
    copy.pragma("journal_mode = MEMORY");
    copy.pragma("synchronous = FULL");
    const done = copy.transaction(() => change(copy))();
    // While it is locked nobody takes it for one that was left behind.
    copy.exec("begin immediate");
    const contents = await lookAt(partial, what, true);
    copy.close();
    return { done, contents };
  } catch (error) {
    copy.close();
    removePartial(partial);
    throw error;
  }
}

/**
 * Looks whether a file is a database of ours that this release can use, and what it holds.
 * @param what it is called in messages
 * @param thorough whether everything in it is verified; it takes as long as reading it
 * @param fromElsewhere whether others may have had it in their hands: a thorough look is for what they left too
 * @throws AppError storage_unavailable, busy
 */
async function lookAt(
  databaseFile: string,
  what: string,
  thorough: boolean,
  fromElsewhere = false,
): Promise<DatabaseSummary> {
  let database: DatabaseInspection | undefined;
  try {
    database = await inspectDatabase({ databaseFile });
    if (!database.isMillraceDatabase)
      throw new AppError("storage_unavailable", `${what} is that of another program.`);
    const { applied, newest } = await getMigrationStatus(database.read, { what });
    if (applied === 0)
      throw new AppError("storage_unavailable", `${what} is empty: Millrace was never started on it.`);
    if (thorough) {
      const issues = [
        ...database.checkIntegrity(true),
        ...(await brokenReferences(database)),
        ...(fromElsewhere ? await triggers(database) : []),
      ];
      if (issues.length > 0) throw damaged(what, issues);
    }
    return { migration: applied, newest, ...(await contentsOf(database)) };
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    // SQLite's own words: ours are those for a state directory, which would mislead who restores.
    const { cause = error } = error as Error;
    throw damaged(what, [(cause as Error).message]);
  } finally {
    await database?.close();
  }
}

async function brokenReferences({ read }: DatabaseInspection): Promise<string[]> {
  const { rows } = await sql<{ table: string }>`
    select distinct "table" from pragma_foreign_key_check limit ${sql.lit(MAX_REPORTED_PROBLEMS)}`.execute(
    read,
  );
  return rows.map(({ table }) => `rows of ${table} refer to what is not there`);
}

/** Millrace has none: somebody else made them, and they would go on changing what is written, keys for example. */
async function triggers({ read }: DatabaseInspection): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from sqlite_schema where type = 'trigger' limit ${sql.lit(MAX_REPORTED_PROBLEMS)}`.execute(
    read,
  );
  return rows.map(({ name }) => `it has a trigger that Millrace did not make, ${JSON.stringify(name)}`);
}

async function contentsOf({
  read,
}: DatabaseInspection): Promise<
  Pick<DatabaseSummary, "createdAt" | "createdByRelease" | "rows" | "unfinishedRuns">
> {
  // An older release's has fewer tables.
  const there = new Set((await read.introspection.getTables()).map(({ name }) => name));
  const count = async (table: (typeof COUNTED)[number], unfinished = false): Promise<number> => {
    if (!there.has(table)) return 0;
    const { rows } = await read
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as("rows"))
      .$if(unfinished, (query) => query.where("finished_at" as never, "is", null))
      .executeTakeFirstOrThrow();
    return rows;
  };
  const rows = await Promise.all(COUNTED.map(async (table) => [table, await count(table)] as const));
  const marks = await read
    .selectFrom("settings")
    .selectAll()
    .where("name", "in", Object.values(MARKS))
    .execute();
  const markOf = (name: string): string | null => marks.find((it) => it.name === name)?.value ?? null;
  return {
    createdAt: markOf(MARKS.at),
    createdByRelease: markOf(MARKS.release),
    rows: Object.fromEntries(rows) as DatabaseSummary["rows"],
    unfinishedRuns: await count("runs", true),
  };
}

const damaged = (what: string, issues: readonly string[]): AppError =>
  new AppError(
    "storage_unavailable",
    `${what} is damaged: ${issues.slice(0, MAX_REPORTED_PROBLEMS).join("; ")}. Nothing was made. Restore the newest backup that is not.`,
  );

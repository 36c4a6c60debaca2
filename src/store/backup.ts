/** What a backup holds, how it is made out of a running state, and how a state is made out of it. */
import Database from "better-sqlite3";
import { sql } from "kysely";
import { AppError } from "../core/errors.ts";
import { type Inspected, inspectDatabase } from "./inspect.ts";
import { standingOf } from "./migrate.ts";
import { endWhatIsOver, type Settled } from "./restored.ts";
import { copyInto, removePartial } from "./snapshot.ts";
import { isUnreachable } from "./sqlite-errors.ts";

/** Rows of `settings` that only a backup has: nothing in its tables differs from those of a state. */
const MARKS = { at: "backup_at", release: "backup_release" } as const;
const NAMED_FAULTS = 3;

/** What a database holds, as a backup and its restoration tell it. */
export interface Contents {
  /** When the backup was made; null of a copy that `millrace backup` did not make. */
  madeAt: string | null;
  /** The release that made it. */
  madeBy: string | null;
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
export async function backUp(
  { databaseFile, partial }: { databaseFile: string; partial: string },
  mark: { at: string; release: string },
): Promise<Contents> {
  const what = `The database ${databaseFile}`;
  const before = await lookAt(databaseFile, what, false);
  copyInto(databaseFile, partial);
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
export async function makeRestored(
  { file, partial }: { file: string; partial: string },
  at: string,
): Promise<{ contents: Contents; settled: Settled }> {
  const contents = await lookAt(file, file, true, true);
  copyInto(file, partial, { readonly: true });
  const { done } = await finish(partial, file, (copy) => {
    copy.prepare("delete from settings where name in (?, ?)").run(MARKS.at, MARKS.release);
    return endWhatIsOver(copy, { at, backup: contents.madeAt });
  });
  return { contents, settled: done };
}

/** Changes a fresh copy, verifies it and brings it to the disk. */
async function finish<T>(
  partial: string,
  what: string,
  change: (copy: Database.Database) => T,
): Promise<{ done: T; contents: Contents }> {
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
): Promise<Contents> {
  let database: Inspected | undefined;
  try {
    database = await inspectDatabase({ databaseFile });
    if (!database.ours) throw new AppError("storage_unavailable", `${what} is that of another program.`);
    const { applied, newest } = await standingOf(database.read, { what });
    if (applied === 0)
      throw new AppError("storage_unavailable", `${what} is empty: Millrace was never started on it.`);
    if (thorough) {
      const faults = [
        ...database.integrity(true),
        ...(await brokenReferences(database)),
        ...(fromElsewhere ? await triggers(database) : []),
      ];
      if (faults.length > 0) throw damaged(what, faults);
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

async function brokenReferences({ read }: Inspected): Promise<string[]> {
  const { rows } = await sql<{ table: string }>`
    select distinct "table" from pragma_foreign_key_check limit ${sql.lit(NAMED_FAULTS)}`.execute(read);
  return rows.map(({ table }) => `rows of ${table} refer to what is not there`);
}

/** Millrace has none: somebody else made them, and they would go on changing what is written, keys for example. */
async function triggers({ read }: Inspected): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from sqlite_schema where type = 'trigger' limit ${sql.lit(NAMED_FAULTS)}`.execute(read);
  return rows.map(({ name }) => `it has a trigger that Millrace did not make, ${JSON.stringify(name)}`);
}

async function contentsOf({
  read,
}: Inspected): Promise<Pick<Contents, "madeAt" | "madeBy" | "rows" | "unfinishedRuns">> {
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
    madeAt: markOf(MARKS.at),
    madeBy: markOf(MARKS.release),
    rows: Object.fromEntries(rows) as Contents["rows"],
    unfinishedRuns: await count("runs", true),
  };
}

const damaged = (what: string, faults: readonly string[]): AppError =>
  new AppError(
    "storage_unavailable",
    `${what} is damaged: ${faults.slice(0, NAMED_FAULTS).join("; ")}. Nothing was made. Restore the newest backup that is not.`,
  );

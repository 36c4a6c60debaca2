/** Opens the SQLite database of the state for itself alone, so that it can be carried to another database. */
import type Database from "better-sqlite3";
import { AppError } from "../core/errors.ts";
import { connect } from "./database.ts";
import { MOVED_TO } from "./moved-state.ts";
import { isBusy } from "./sqlite-errors.ts";
import type { StateDirectory } from "./state-directory.ts";

export interface ExclusiveSource {
  /** Names of the tables, without those of SQLite, of its search index, and of the migrations. */
  tables: readonly string[];
  rows(table: string, columns: readonly string[]): IterableIterator<Record<string, unknown>>;
  /** Marks the state as moved: it is not opened again. */
  markMoved(to: string): void;
  close(): void;
}

/**
 * Locks the database until it is closed. A process that has it open in write-ahead mode keeps a shared lock, so this fails while
 * there is one. With the rollback journal, open connections hold no lock: then nobody can write meanwhile.
 * @throws AppError busy while another process has the database open
 */
export function openExclusively({ databaseFile }: Pick<StateDirectory, "databaseFile">): ExclusiveSource {
  const db = connect(databaseFile, true);
  try {
    db.pragma("locking_mode = EXCLUSIVE");
    // The lock is taken with the next access. Leaving write-ahead logging needs the file for oneself.
    db.pragma("journal_mode = DELETE");
    db.exec("begin exclusive");
  } catch (error) {
    db.close();
    if (!isBusy(error)) throw error;
    throw new AppError(
      "busy",
      "Another process has the state open. Nothing was changed. Stop all Millrace processes that use the state directory, then try again.",
      { cause: error },
    );
  }
  return {
    tables: tablesOf(db),
    rows: (table, columns) =>
      db
        .prepare(`select ${columns.map((name) => `"${name}"`).join(", ")} from "${table}"`)
        .iterate() as IterableIterator<Record<string, unknown>>,
    markMoved(to) {
      db.prepare("insert or replace into settings (name, value) values (?, ?)").run(MOVED_TO, to);
      db.exec("commit");
    },
    close: () => db.close(),
  };
}

const tablesOf = (db: Database.Database): string[] =>
  db
    .prepare(
      `select name from sqlite_schema where type = 'table' and name not like 'sqlite%'
       and name not like 'workflow_search%' and name not in ('workflow_numbers', 'migrations') order by name`,
    )
    .pluck()
    .all() as string[];

/** Removes the mark. @returns whether there was one */
export function reopen({ databaseFile }: Pick<StateDirectory, "databaseFile">): boolean {
  const db = connect(databaseFile, true);
  try {
    return db.prepare("delete from settings where name = ?").run(MOVED_TO).changes > 0;
  } finally {
    db.close();
  }
}

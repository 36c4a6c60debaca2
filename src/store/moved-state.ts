/** The mark of a state that was carried to another database: two copies of it would both start its scheduled runs. */
import type Database from "better-sqlite3";
import { AppError } from "../core/errors.ts";
import type { StateDirectory } from "./state-directory.ts";

/** The setting with the place of the other database. */
export const MOVED_TO = "moved_to";

/** What to do about a moved state, in sentences. @param path the state directory */
export const movedStateAdvice = (path: string): string =>
  "Set MILLRACE_DATABASE_URL to the URL of that database. To go back to this older state, without what has happened since, stop all " +
  `processes, then run millrace migrate-state --reopen with MILLRACE_STATE_DIR=${path}.`;

/** @throws AppError storage_unavailable when the state was carried to another database */
export function assertNotMoved(db: Database.Database, directory: Pick<StateDirectory, "path">): void {
  const to = movedTo(db);
  if (to === undefined) return;
  throw new AppError(
    "storage_unavailable",
    `It was moved to PostgreSQL (${to}). Nothing was changed. ${movedStateAdvice(directory.path)}`,
  );
}

/** The place of the database that a state was carried to, without user and password; undefined if it was not moved. */
export function movedTo(db: Database.Database): string | undefined {
  const exists = db.prepare("select count(*) from sqlite_schema where name = 'settings'").pluck().get();
  if (exists === 0) return undefined;
  return db.prepare("select value from settings where name = ?").pluck().get(MOVED_TO) as string | undefined;
}

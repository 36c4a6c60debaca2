/** The mark of a state that was carried to another database: two copies of it would both start its scheduled runs. */
import type Database from "better-sqlite3";
import { AppError } from "../core/errors.ts";
import type { StateDirectory } from "./state-directory.ts";

/** The setting with the place of the other database. */
export const MOVED_TO = "moved_to";

/** @throws AppError storage_unavailable when the state was carried to another database */
export function assertNotMoved(db: Database.Database, directory: Pick<StateDirectory, "path">): void {
  const to = movedTo(db);
  if (to === undefined) return;
  throw new AppError(
    "storage_unavailable",
    `It was moved to PostgreSQL (${to}). Nothing was changed. Set MILLRACE_DATABASE_URL to the URL of that database. To use this ` +
      `older state again, run millrace migrate-state --reopen with MILLRACE_STATE_DIR=${directory.path}.`,
  );
}

function movedTo(db: Database.Database): string | undefined {
  const exists = db.prepare("select count(*) from sqlite_schema where name = 'settings'").pluck().get();
  if (exists === 0) return undefined;
  return db.prepare("select value from settings where name = ?").pluck().get(MOVED_TO) as string | undefined;
}

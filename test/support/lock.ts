/** Holds the database lock with a separate connection, which SQLite treats like another process. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { onTestFinished } from "vitest";

/**
 * Takes the write lock of a state directory.
 * @returns a function that releases it
 */
export function holdLock(stateDir: string, kind: "immediate" | "exclusive" = "exclusive"): () => void {
  const db = new Database(join(stateDir, "millrace.db"));
  db.exec(`begin ${kind}`);
  const release = (): void => {
    if (db.open) db.close();
  };
  onTestFinished(release);
  return release;
}

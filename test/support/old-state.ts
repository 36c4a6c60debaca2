/** State directories of earlier releases, created from dumps. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { temporaryDirectory } from "./instance.ts";

/**
 * Creates the state directory of a release whose newest migration was `migration`.
 * @param edit changes the dump first, such as the address of a server in it
 */
export function createOldState(migration: 1 | 2, edit = (dump: string): string => dump): string {
  const dump = new URL(`../fixtures/state-000${migration}.sql`, import.meta.url);
  const stateDir = temporaryDirectory();
  const db = new Database(join(stateDir, "millrace.db"));
  db.exec(edit(readFileSync(dump, "utf8")));
  // As those releases did, on a local file system.
  db.pragma("journal_mode = wal");
  db.close();
  return stateDir;
}

/** Keys of those states. */
export const OLD_STATE_KEYS = {
  1: {
    agent: "mill_kJZw0gW5gE1XrUOOUi46LJz3lyyGSw0G2iLp",
    reader: "mill_rCLWuzYBBlHFVriZjTKOBIqnvKkRJF0NHPuk",
    revoked: "mill_FvlQLoipV26Kp2UBQ3aqRsRK4642aq4P4HcO",
    rotated: "mill_VUpG8bgqn06dEwpDQbgSByd7P3OjQE20J5eM",
    successor: "mill_ESJszVJBXPGGwOZFwnc8JGdsfzwRrO3QIms6",
  },
  2: { agent: "mill_PI8O20AGI95m2ghoJfXdqmPkUBFerB38M3NJ" },
} as const;

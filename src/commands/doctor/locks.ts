/** Whether locks of the state directory's file system hold between processes: tried, with a scratch database. */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import Database from "better-sqlite3";
import { databaseFilePaths } from "../../store/database-copy.ts";
import { isBusy } from "../../store/sqlite-errors.ts";
import { findStateDirectory, journalModeFor } from "../../store/state-directory.ts";
import { STATE, type CheckResult, checkResultsOf } from "./check-result.ts";

const { ok, error: fault } = checkResultsOf(STATE);

/** What the other process has seen: whether it was kept out at first, and what it read once it got in. */
export interface LockContender {
  blocked: boolean;
  read: number | null;
}

const RIVAL_MS = 4_000;

/**
 * Holds a write lock while another process tries to get it, gives it back, and has it read what was written.
 * @param startRival starts that process and gives what it tells, first when it was kept out
 * @returns undefined where there is no directory to try it in
 */
export async function checkLocks(
  path: string,
  startRival: (file: string) => AsyncIterable<Partial<LockContender>>,
): Promise<CheckResult | undefined> {
  const directory = findStateDirectory(path);
  if (directory === undefined) return undefined;
  const file = join(path, `.doctor-${randomBytes(6).toString("hex")}.db`);
  try {
    let db: Database.Database;
    try {
      db = new Database(file);
    } catch (error) {
      return fault(
        "locks",
        `no file can be made in ${path}: ${(error as Error).message}`,
        "See that its file system is not mounted read-only, and that this user may write there.",
      );
    }
    try {
      db.pragma(`journal_mode = ${journalModeFor(directory)}`);
      db.exec("create table t (n integer)");
      db.exec("begin immediate; insert into t values (7)");
      let last: Partial<LockContender> = {};
      for await (const told of startRival(file)) {
        if (told.blocked === true && told.read === undefined) db.exec("commit");
        last = told;
      }
      return judge(last);
    } finally {
      db.close();
    }
  } finally {
    for (const made of databaseFilePaths(file)) rmSync(made, { force: true });
  }
}

function judge({ blocked, read }: Partial<LockContender>): CheckResult {
  const mend =
    "Don't keep the state there: use a local disk, or NFSv4 with locks (no nolock, no local_lock in its mount options).";
  if (blocked === undefined)
    return fault("locks", "the second process, which should try them, ended early", "Run doctor again.");
  if (!blocked) return fault("locks", "two processes held the write lock at the same time", mend);
  if (read !== 7)
    return fault("locks", "a lock that was given back was not given on to another process", mend);
  return ok("locks", "hold between processes (tried with a scratch file)");
}

/** The other process: tries to write, and tells what came of it. */
export async function contendForLock(
  file: string,
  tell: (seen: Partial<LockContender>) => void,
): Promise<void> {
  const db = new Database(file, { timeout: 0, fileMustExist: true });
  try {
    const enter = (): number | null => {
      try {
        db.exec("begin immediate");
      } catch (error) {
        if (isBusy(error)) return null;
        throw error;
      }
      const read = db.prepare("select max(n) from t").pluck().get() as number | null;
      db.exec("rollback");
      return read ?? 0;
    };
    const first = enter();
    if (first !== null) {
      tell({ blocked: false, read: first });
      return;
    }
    tell({ blocked: true });
    const deadline = performance.now() + RIVAL_MS;
    for (let read = enter(); ; read = enter()) {
      if (read !== null || performance.now() > deadline) {
        tell({ blocked: true, read });
        return;
      }
      await delay(20);
    }
  } finally {
    db.close();
  }
}

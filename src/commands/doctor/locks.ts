/** Tests with a temporary database whether file locks in the state directory work between processes. */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import Database from "better-sqlite3";
import { databaseFilePaths } from "../../store/state-directory.ts";
import { isBusy } from "../../store/sqlite-errors.ts";
import { findStateDirectory, journalModeFor } from "../../store/state-directory.ts";
import { STATE, type CheckResult, checkResultsOf } from "./check-result.ts";

const { ok, error: failed } = checkResultsOf(STATE);

/** What the second process reports: whether the lock blocked it, and what it read after the lock was released. */
export interface LockContender {
  blocked: boolean;
  read: number | null;
}

/** How long the second process tries to get the lock, in milliseconds. */
const CONTENDER_LIMIT_MS = 4_000;

/**
 * Holds a write lock while a second process tries to get it, then releases it and lets that process read what was written.
 * @param startContender starts the second process and yields its reports
 * @returns undefined if the directory does not exist
 */
export async function checkLocks(
  path: string,
  startContender: (file: string) => AsyncIterable<Partial<LockContender>>,
): Promise<CheckResult | undefined> {
  const directory = findStateDirectory(path);
  if (directory === undefined) return undefined;
  const file = join(path, `.doctor-${randomBytes(6).toString("hex")}.db`);
  try {
    let db: Database.Database;
    try {
      db = new Database(file);
    } catch (error) {
      return failed(
        "locks",
        `no file can be created in ${path}: ${(error as Error).message}`,
        "Make sure that its file system is not mounted read-only, and that this user can write there.",
      );
    }
    try {
      db.pragma(`journal_mode = ${journalModeFor(directory)}`);
      db.exec("create table t (n integer)");
      db.exec("begin immediate; insert into t values (7)");
      let last: Partial<LockContender> = {};
      for await (const report of startContender(file)) {
        if (report.blocked === true && report.read === undefined) db.exec("commit");
        last = report;
      }
      return resultOf(last);
    } finally {
      db.close();
    }
  } finally {
    for (const created of databaseFilePaths(file)) rmSync(created, { force: true });
  }
}

function resultOf({ blocked, read }: Partial<LockContender>): CheckResult {
  const fix =
    "Move the state to a local disk, or to NFSv4 with locks (without nolock and local_lock in the mount options).";
  if (blocked === undefined)
    return failed("locks", "the second process of this test ended early", "Run doctor again.");
  if (!blocked) return failed("locks", "two processes held the write lock at the same time", fix);
  if (read !== 7) return failed("locks", "another process could not get a lock after it was released", fix);
  return ok("locks", "work between processes (tested with a temporary file)");
}

/** Runs in the second process: tries to get the lock and reports what happens. */
export async function contendForLock(
  file: string,
  report: (result: Partial<LockContender>) => void,
): Promise<void> {
  const db = new Database(file, { timeout: 0, fileMustExist: true });
  try {
    const tryLock = (): number | null => {
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
    const first = tryLock();
    if (first !== null) {
      report({ blocked: false, read: first });
      return;
    }
    report({ blocked: true });
    const deadline = performance.now() + CONTENDER_LIMIT_MS;
    for (let read = tryLock(); ; read = tryLock()) {
      if (read !== null || performance.now() > deadline) {
        report({ blocked: true, read });
        return;
      }
      await delay(20);
    }
  } finally {
    db.close();
  }
}

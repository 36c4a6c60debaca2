/**
 * Checks the state directory and the database in it, without changing them. All of this runs in a child process: a hanging
 * file system blocks the thread that uses it, and no timeout can end that.
 */
import { statfsSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import type { AuthMode } from "../../../schemas/user.ts";
import { AppError } from "../../core/errors.ts";
import { minFreeBytes } from "../../store/free-space.ts";
import { inspectDatabase, type DatabaseInspection } from "../../store/inspect.ts";
import {
  databaseFileIn,
  findStateDirectory,
  journalModeFor,
  type StateDirectory,
} from "../../store/state-directory.ts";
import type { MigrationStatus } from "../../store/migrate.ts";
import { hasDefaultLimits } from "../../store/settings.ts";
import { limitResults, type RunLimits } from "./limits.ts";
import { movedResult } from "./moved.ts";
import { storedBytesErrors } from "../../store/stored-bytes.ts";
import { checkDatabaseRows } from "./rows.ts";
import { checkSignatures, type UnfitSecrets } from "./signatures.ts";
import { STATE, type CheckResult, checkResultsOf } from "./check-result.ts";

const { ok, warning, error: failed } = checkResultsOf(STATE);

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const LARGE_WAL_BYTES = 256 * MIB;

/** What doctor knows from elsewhere. */
export interface CheckContext {
  /** How people sign in. */
  authMode: AuthMode;
  /** `limits.free_disk`, in bytes. */
  freeDisk?: number | undefined;
  /** The configured limits of runs; undefined without a valid configuration. */
  limits?: RunLimits | undefined;
  /** Left out without a valid configuration. */
  unfitSecrets?: UnfitSecrets | undefined;
  /** Whether a running server reports that its state cannot be reached. */
  unavailable?: boolean;
}

const GONE =
  "Stop all Millrace processes and restore a backup (docs/operations.md): a restart would begin with an empty state. If the servers use another state directory, set MILLRACE_STATE_DIR to it.";

/** @param report is called with each result as soon as it is known */
export async function checkState(
  path: string,
  uid: number | undefined,
  report: (result: CheckResult) => void,
  { authMode, freeDisk, limits, unfitSecrets, unavailable = false }: CheckContext = {
    authMode: "built-in",
  },
): Promise<void> {
  const directory = tryFindDirectory(path, report);
  if (directory === null) return;
  if (directory === undefined) {
    report(
      unavailable ? failed("directory", `${path} is gone, but servers are running`, GONE) : missing(path),
    );
    return;
  }
  [...checkPermissions(directory, uid), checkSpace(directory, freeDisk), checkFileSystem(directory)].forEach(
    report,
  );
  const file = statSync(directory.databaseFile, { throwIfNoEntry: false });
  if (file === undefined) {
    report(
      unavailable
        ? failed("database", `${directory.databaseFile} is gone, but servers are running`, GONE)
        : ok("database", "does not exist yet: the first start creates it"),
    );
    return;
  }
  if ((file.mode & 0o077) !== 0)
    report(
      warning(
        "database",
        `other users can read it (mode ${modeOf(file)})`,
        `Run chmod 600 ${directory.databaseFile}.`,
      ),
    );
  try {
    const database = await inspectDatabase(directory);
    try {
      await checkDatabase(directory, database, report, { authMode, limits, unfitSecrets });
    } finally {
      await database.close();
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    report(storeError("database", error));
  }
}

const STORE_ERROR_FIX: Readonly<Record<string, string>> = {
  busy: "Try again. If the error remains, another process holds the database: stop it.",
};

/** The message of a store error says what happened and what to do. */
export const storeError = (check: string, { code, message }: AppError): CheckResult =>
  failed(
    check,
    message,
    STORE_ERROR_FIX[code] ??
      "Follow the instructions in the message. docs/operations.md explains how to restore a backup.",
  );

/** @returns undefined if the directory does not exist, null if it cannot be used, which is reported */
function tryFindDirectory(
  path: string,
  report: (result: CheckResult) => void,
): StateDirectory | null | undefined {
  try {
    return findStateDirectory(path);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    report(
      failed("directory", error.message, "Choose another directory, or give it to this user with chown."),
    );
    return null;
  }
}

function missing(path: string): CheckResult {
  const parent = dirname(path);
  const fix = "Start Millrace once to create it, or set MILLRACE_STATE_DIR to the correct directory.";
  return statSync(parent, { throwIfNoEntry: false })?.isDirectory() === true
    ? warning("directory", `${path} does not exist yet`, fix)
    : warning("directory", `${path} does not exist yet, and neither does ${parent}`, fix);
}

const modeOf = ({ mode }: Stats): string => (mode & 0o7777).toString(8).padStart(4, "0");

function checkPermissions({ path }: StateDirectory, uid: number | undefined): CheckResult[] {
  const stats = statSync(path);
  const results: CheckResult[] = [];
  if (uid !== undefined && stats.uid !== uid)
    results.push(
      warning(
        "directory",
        `${path} belongs to user ${stats.uid}, but this is user ${uid}`,
        "Run doctor as the user of the servers, or give the directory to that user with chown -R.",
      ),
    );
  if ((stats.mode & 0o002) !== 0)
    results.push(
      failed("directory", `all users can write to ${path} (mode ${modeOf(stats)})`, `Run chmod 700 ${path}.`),
    );
  else if ((stats.mode & 0o077) !== 0)
    results.push(
      warning(
        "directory",
        `other users can access ${path} (mode ${modeOf(stats)})`,
        `Run chmod 700 ${path}.`,
      ),
    );
  return results.length > 0 ? results : [ok("directory", `${path}, accessible only to this user`)];
}

function checkSpace({ path }: StateDirectory, freeDisk: number | undefined): CheckResult {
  const { bavail, bsize, blocks, files, ffree } = statfsSync(path);
  const free = bavail * bsize;
  const share = blocks === 0 ? 1 : bavail / blocks;
  const space = `${(free / GIB).toFixed(1)} GiB free (${Math.floor(share * 100)} %)`;
  const fix =
    "Free some space, or move the state to a larger volume. A lower retention.runs in the configuration removes old runs earlier.";
  // Some file systems create inodes on demand and report a total of 0.
  if (free < 100 * MIB || (files > 0 && ffree < 100))
    return failed("disk space", `${space}, ${ffree} inodes free: writes will fail soon`, fix);
  const required = minFreeBytes(freeDisk, blocks * bsize);
  if (free < required)
    return failed(
      "disk space",
      `${space}: new runs are refused below ${Math.ceil(required / MIB)} MiB (limits.free_disk)`,
      fix,
    );
  if (free < GIB || share < 0.05 || (files > 0 && ffree / files < 0.02))
    return warning("disk space", `${space}, ${ffree} inodes free`, fix);
  return ok("disk space", space);
}

const checkFileSystem = ({ local, fileSystem: name }: StateDirectory): CheckResult =>
  local
    ? ok("file system", `${name}, local`)
    : warning(
        "file system",
        `${name}: a network file system, or an unknown one; the slower rollback journal is used`,
        "If one host is enough, move the state to a local disk. Otherwise use NFSv4, whose locks work.",
      );

async function checkDatabase(
  directory: StateDirectory,
  database: DatabaseInspection,
  report: (result: CheckResult) => void,
  { authMode, limits, unfitSecrets }: Pick<CheckContext, "authMode" | "limits" | "unfitSecrets">,
): Promise<void> {
  if (!database.isMillraceDatabase) {
    report(
      failed(
        "database",
        `${directory.databaseFile} belongs to another program`,
        "Move it away, or set MILLRACE_STATE_DIR to another directory.",
      ),
    );
    return;
  }
  const movedTo = await database.movedTo();
  if (movedTo !== undefined) {
    report(movedResult(movedTo, directory.path));
    return;
  }
  report(checkJournal(directory, database.journalMode));
  const wal = statSync(`${directory.databaseFile}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (wal > LARGE_WAL_BYTES)
    report(
      warning(
        "write-ahead log",
        `${Math.round(wal / MIB)} MiB: a reader prevents checkpoints`,
        "Stop other programs that read the database (a shell, a copy tool), then restart the Millrace processes.",
      ),
    );
  const migrations = migrationResult(await database.migrationStatus());
  report(migrations);
  if (migrations.status !== "ok") return;
  for await (const result of checkDatabaseRows(database.read, directory.local, authMode)) report(result);
  if (unfitSecrets !== undefined) (await checkSignatures(database.read, unfitSecrets)).forEach(report);
  if (limits !== undefined) limitResults(limits, await hasDefaultLimits(database.read)).forEach(report);
}

export function migrationResult({ applied, newest }: MigrationStatus): CheckResult {
  if (applied < newest)
    return warning(
      "migrations",
      `the database is at migration ${applied}, this release needs ${newest}`,
      "Make a backup. The next start of this release migrates the database.",
    );
  return ok(
    "migrations",
    applied === newest
      ? `at ${applied}`
      : `at ${applied}, of a newer release that is compatible with this one`,
  );
}

function checkJournal(directory: StateDirectory, mode: string): CheckResult {
  const expected = journalModeFor(directory);
  return mode === expected
    ? ok("journal mode", mode)
    : warning(
        "journal mode",
        `${mode}, but this file system needs ${expected}`,
        "Restart all Millrace processes: the next start sets it. Make sure that all hosts mount the same kind of file system.",
      );
}

/** Runs SQLite's integrity check. @returns undefined if there is no Millrace database, or its state was moved */
export async function checkIntegrity(path: string, full: boolean): Promise<CheckResult | undefined> {
  const databaseFile = databaseFileIn(path);
  if (statSync(databaseFile, { throwIfNoEntry: false }) === undefined) return undefined;
  const database = await inspectDatabase({ databaseFile });
  try {
    if (!database.isMillraceDatabase) return undefined;
    // Damage that keeps this from being read is found below.
    if ((await database.movedTo().catch(() => undefined)) !== undefined) return undefined;
    // With the rollback journal, a long read blocks all writers.
    if (!full && database.journalMode !== "wal")
      return ok(
        "integrity",
        "not checked, because it would block writers on this file system: stop the servers, then run doctor --full",
      );
    const issues = database.checkIntegrity(full);
    if (issues.length === 0)
      return ok("integrity", full ? "no damage, indexes included" : "no damage (--full checks indexes too)");
    return failed(
      "integrity",
      `the database is damaged: ${issues.slice(0, 3).join("; ")}`,
      "Stop all Millrace processes and restore a backup (millrace restore); keep the damaged file.",
    );
  } finally {
    await database.close();
  }
}

/**
 * Checks the counts of what owners store, which reads all runs.
 * @returns undefined if there is no current database, or its state was moved
 */
export async function checkStoredBytes(path: string): Promise<CheckResult | undefined> {
  const databaseFile = databaseFileIn(path);
  if (statSync(databaseFile, { throwIfNoEntry: false }) === undefined) return undefined;
  const database = await inspectDatabase({ databaseFile });
  try {
    if (!database.isMillraceDatabase || (await database.movedTo()) !== undefined) return undefined;
    const { applied, newest } = await database.migrationStatus();
    if (applied < newest) return undefined;
    return await storedBytesResult(database.read);
  } finally {
    await database.close();
  }
}

/** Compares the counts of what owners store with what is stored. */
export async function storedBytesResult(read: DatabaseInspection["read"]): Promise<CheckResult> {
  const wrong = await storedBytesErrors(read);
  if (wrong.length === 0) return ok("stored bytes", "the count of each owner is right");
  return warning(
    "stored bytes",
    `wrong for ${wrong.length} owners, such as ${wrong[0]!.subject} by ${wrong[0]!.missing} bytes: an older release ran on this database`,
    "Run millrace storage recount.",
  );
}

/**
 * The state directory and the database in it, looked at without changing them. All of this runs in a child: a file
 * system that hangs keeps whoever asks it, and no time-out can end that.
 */
import { statfsSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import type { AuthMode } from "../../../schemas/user.ts";
import { AppError } from "../../core/errors.ts";
import { inspectDatabase, type DatabaseInspection } from "../../store/inspect.ts";
import {
  databaseFileIn,
  findStateDirectory,
  journalModeFor,
  type StateDirectory,
} from "../../store/state-directory.ts";
import { checkDatabaseRows } from "./rows.ts";
import { STATE, type CheckResult, checkResultsOf } from "./check-result.ts";

const { ok, warning, error: fault } = checkResultsOf(STATE);

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const LARGE_WAL = 256 * MIB;

/** What is known from elsewhere. */
export interface CheckContext {
  /** How people sign in. */
  authMode: AuthMode;
  /** Whether a server runs that says that its state can't be reached. */
  unavailable?: boolean;
}

const GONE =
  "Stop all Millrace processes and restore a backup (docs/operations.md): a restart would begin with an empty state. Where the servers keep theirs elsewhere, point MILLRACE_STATE_DIR there.";

/** @param tell called with each verdict as soon as it is known */
export async function checkState(
  path: string,
  uid: number | undefined,
  tell: (verdict: CheckResult) => void,
  { authMode, unavailable = false }: CheckContext = { authMode: "built-in" },
): Promise<void> {
  const directory = attempt("directory", tell, () => findStateDirectory(path));
  if (directory === null) return;
  if (directory === undefined) {
    tell(unavailable ? fault("directory", `${path} is gone, and servers run`, GONE) : missing(path));
    return;
  }
  [...rights(directory, uid), room(directory), fileSystem(directory)].forEach(tell);
  const file = statSync(directory.databaseFile, { throwIfNoEntry: false });
  if (file === undefined) {
    tell(
      unavailable
        ? fault("database", `${directory.databaseFile} is gone, and servers run`, GONE)
        : ok("database", "not there yet: the first start makes it"),
    );
    return;
  }
  if ((file.mode & 0o077) !== 0)
    tell(warning("database", `other users may read it (mode ${modeOf(file)})`, `Run chmod 600 on it.`));
  try {
    const database = await inspectDatabase(directory);
    try {
      await lookAtDatabase(directory, database, tell, authMode);
    } finally {
      await database.close();
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    tell(broken("database", error));
  }
}

const MEND_STATE: Readonly<Record<string, string>> = {
  busy: "Try again; if it stays so, another process holds the database: end it.",
};

/** An error of the store's says what happened and what to do in one text. */
const broken = (what: string, { code, message }: AppError): CheckResult =>
  fault(
    what,
    message,
    MEND_STATE[code] ?? "Do as it says; docs/operations.md tells how a backup is restored.",
  );

/** @returns null where it failed, which was told */
function attempt<T>(what: string, tell: (verdict: CheckResult) => void, look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    tell(fault(what, error.message, "Choose another, or give it to this user with chown."));
    return null;
  }
}

function missing(path: string): CheckResult {
  const parent = dirname(path);
  const mend = "Start Millrace once, which makes it, or point MILLRACE_STATE_DIR at the one that is meant.";
  return statSync(parent, { throwIfNoEntry: false })?.isDirectory() === true
    ? warning("directory", `${path} is not there yet`, mend)
    : warning("directory", `${path} is not there yet, and neither is ${parent}`, mend);
}

const modeOf = ({ mode }: Stats): string => (mode & 0o7777).toString(8).padStart(4, "0");

function rights({ path }: StateDirectory, uid: number | undefined): CheckResult[] {
  const found = statSync(path);
  const verdicts: CheckResult[] = [];
  if (uid !== undefined && found.uid !== uid)
    verdicts.push(
      warning(
        "directory",
        `${path} belongs to user ${found.uid}, and this is user ${uid}`,
        "Run doctor as the user that the service runs as, or give the directory to that user with chown -R.",
      ),
    );
  if ((found.mode & 0o002) !== 0)
    verdicts.push(
      fault("directory", `everybody may write to ${path} (mode ${modeOf(found)})`, `Run chmod 700 ${path}.`),
    );
  else if ((found.mode & 0o077) !== 0)
    verdicts.push(
      warning(
        "directory",
        `other users may look into ${path} (mode ${modeOf(found)})`,
        `Run chmod 700 ${path}.`,
      ),
    );
  return verdicts.length > 0 ? verdicts : [ok("directory", `${path}, this user's alone`)];
}

function room({ path }: StateDirectory): CheckResult {
  const { bavail, bsize, blocks, files, ffree } = statfsSync(path);
  const free = bavail * bsize;
  const share = blocks === 0 ? 1 : bavail / blocks;
  const said = `${(free / GIB).toFixed(1)} GiB free (${Math.floor(share * 100)} %)`;
  const mend =
    "Make room, or move the state to a larger volume; retention.runs in the configuration forgets sooner.";
  // Some file systems make inodes as they need them and count none.
  if (free < 100 * MIB || (files > 0 && ffree < 100))
    return fault("room", `${said}, ${ffree} inodes free: nothing can be written soon`, mend);
  if (free < GIB || share < 0.05 || (files > 0 && ffree / files < 0.02))
    return warning("room", `${said}, ${ffree} inodes free`, mend);
  return ok("room", said);
}

const fileSystem = ({ local, fileSystem: name }: StateDirectory): CheckResult =>
  local
    ? ok("file system", `${name}, a local one`)
    : warning(
        "file system",
        `${name}: a network file system, or one that is not known; the slower rollback journal is used`,
        "Keep the state on a local disk if one host is enough; else see that it is NFSv4, whose locks work.",
      );

async function lookAtDatabase(
  directory: StateDirectory,
  database: DatabaseInspection,
  tell: (verdict: CheckResult) => void,
  authMode: AuthMode,
): Promise<void> {
  if (!database.isMillraceDatabase) {
    tell(
      fault(
        "database",
        `${directory.databaseFile} is the database of another program`,
        "Move it away, or point MILLRACE_STATE_DIR at another directory.",
      ),
    );
    return;
  }
  tell(journal(directory, database.journalMode));
  const wal = statSync(`${directory.databaseFile}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (wal > LARGE_WAL)
    tell(
      warning(
        "write-ahead log",
        `${Math.round(wal / MIB)} MiB: something keeps it from being folded into the database`,
        "End what reads the database from outside (a shell, a copying tool), then restart the Millrace processes.",
      ),
    );
  const { applied, newest } = await database.migrationStatus();
  if (applied < newest) {
    tell(
      warning(
        "migrations",
        `the database is at ${applied}, this release brings ${newest}`,
        "Take a backup; the next start of this release migrates it.",
      ),
    );
    return;
  }
  tell(
    ok(
      "migrations",
      applied === newest ? `at ${applied}` : `at ${applied}, of a newer release that this one fits`,
    ),
  );
  for await (const verdict of checkDatabaseRows(database.read, directory.local, authMode)) tell(verdict);
}

function journal(directory: StateDirectory, mode: string): CheckResult {
  const wanted = journalModeFor(directory);
  return mode === wanted
    ? ok("journal mode", mode)
    : warning(
        "journal mode",
        `${mode}, where this file system wants ${wanted}`,
        "Restart all Millrace processes: the next start sets it; see that all of them see the same kind of file system.",
      );
}

/** The faults that SQLite finds in the database. @returns undefined where there is none of ours to look at */
export async function checkIntegrity(path: string, full: boolean): Promise<CheckResult | undefined> {
  const databaseFile = databaseFileIn(path);
  if (statSync(databaseFile, { throwIfNoEntry: false }) === undefined) return undefined;
  const database = await inspectDatabase({ databaseFile });
  try {
    if (!database.isMillraceDatabase) return undefined;
    // With the rollback journal whoever reads for long keeps all others from writing.
    if (!full && database.journalMode !== "wal")
      return ok(
        "integrity",
        "not looked through, because it would hold up writers here: stop the service, then --full",
      );
    const issues = database.checkIntegrity(full);
    if (issues.length === 0)
      return ok("integrity", full ? "whole, indexes too" : "whole (--full compares indexes too)");
    return fault(
      "integrity",
      `the database is damaged: ${issues.slice(0, 3).join("; ")}`,
      "Stop all Millrace processes and restore a backup (millrace restore); keep the damaged file.",
    );
  } finally {
    await database.close();
  }
}

/** Creates and checks the state directory, and detects its file system, before the database is opened. */
import { accessSync, constants, existsSync, mkdirSync, type Stats, statfsSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { AppError } from "../core/errors.ts";
import { type Barrier, barrierSentences, findBarrier } from "../core/file-access.ts";

/** Magic numbers of statfs(2) for file systems with working locks and shared memory between processes of one host. */
const LOCAL_FILE_SYSTEMS = new Map<number, string>([
  [0xef53, "ext4"],
  [0x58465342, "xfs"],
  [0x9123683e, "btrfs"],
  [0x01021994, "tmpfs"],
  [0x794c7630, "overlayfs"],
  [0x2fc12fc1, "zfs"],
  [0xf2f52010, "f2fs"],
  [0x1a, "apfs"],
  [0x11, "hfs"],
]);

const DIRECTORY_ACCESS = constants.R_OK | constants.W_OK | constants.X_OK;

export interface StateDirectory {
  path: string;
  databaseFile: string;
  /** `ext4`, or `unknown (0x6969)`. */
  fileSystem: string;
  /** Whether the file system is known to be local, so that write-ahead logging works. */
  local: boolean;
}

export const databaseFileIn = (path: string): string => join(path, "millrace.db");

/** The files of a SQLite database. */
export const databaseFilePaths = (databaseFile: string): string[] =>
  ["", "-wal", "-shm", "-journal"].map((suffix) => `${databaseFile}${suffix}`);

/** The SQLite journal mode that the file system supports. */
export const journalModeFor = ({ local }: Pick<StateDirectory, "local">): "wal" | "delete" =>
  local ? "wal" : "delete";

/** Creates a directory and its parents. Node's `recursive` does not return for a parent that is not writable, as in /proc. */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || existsSync(dirname(path))) throw error;
    makeDirectory(dirname(path));
    makeDirectory(path);
  }
}

/**
 * Creates the directory (mode 0700) when it is missing, and detects its file system.
 * @throws AppError storage_unavailable when it can't be created, read or written
 */
export function openStateDirectory(path: string): StateDirectory {
  return withStorageError(path, () => {
    makeDirectory(resolve(path));
    return describeDirectory(path);
  });
}

/**
 * Opens the directory without creating it.
 * @returns undefined when it does not exist
 * @throws AppError storage_unavailable when it can't be read or written
 */
export function findStateDirectory(path: string): StateDirectory | undefined {
  return withStorageError(path, () =>
    statSync(path, { throwIfNoEntry: false }) === undefined ? undefined : describeDirectory(path),
  );
}

function describeDirectory(path: string): StateDirectory {
  if (!statSync(path).isDirectory())
    throw Object.assign(new Error("it is not a directory"), { code: "ENOTDIR" });
  accessSync(path, DIRECTORY_ACCESS);
  // SQLite would only say that it can't open the file, which a command of another user may have created.
  for (const file of databaseFilePaths(databaseFileIn(path)))
    if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
  const type = statfsSync(path).type;
  const name = LOCAL_FILE_SYSTEMS.get(type);
  return {
    path,
    databaseFile: databaseFileIn(path),
    fileSystem: name ?? `unknown (0x${type.toString(16)})`,
    local: name !== undefined,
  };
}

function withStorageError<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const barrier = barrierOf(path, error);
    throw new AppError(
      "storage_unavailable",
      `The state directory ${path} can't be used: ` +
        (barrier === undefined
          ? `${reasonOf(error)}. Set MILLRACE_STATE_DIR to a directory that this user may read and write.`
          : `this user may not read and write there: ${barrierSentences(barrier, path)}`),
      { cause: error },
    );
  }
}

/** What this user may not use, if that is why the directory can't be used. */
function barrierOf(path: string, error: unknown): Barrier | undefined {
  const { code, path: file = path } = error as NodeJS.ErrnoException;
  if (code !== "EACCES" && code !== "EPERM") return undefined;
  const isDatabase = databaseFilePaths(databaseFileIn(path)).includes(file);
  return findBarrier(file, isDatabase ? constants.R_OK | constants.W_OK : DIRECTORY_ACCESS);
}

/** Checks that the open file is still the one at its path: writes to a deleted or replaced file are lost. */
export interface FileIdentity {
  /** Returns the message for a missing or replaced file, or undefined. It takes two microseconds on a local file system. */
  check(): string | undefined;
  /** The same, without blocking on a file system that hangs. */
  checkAsync(): Promise<string | undefined>;
}

/** Uses stat and never open: closing any handle on the file would release SQLite's locks on it. */
export function trackFileIdentity(file: string): FileIdentity {
  const { dev, ino } = statSync(file);
  const compare = (current: Stats | undefined): string | undefined => {
    if (current === undefined)
      return (
        "The database file is gone from the state directory. Stop all Millrace processes and restore a backup " +
        "(docs/operations.md); a restart would create an empty database."
      );
    if (current.ino !== ino || current.dev !== dev)
      return "The database file was replaced while it was in use. Restart this process.";
    return undefined;
  };
  return {
    check() {
      try {
        return compare(statSync(file, { throwIfNoEntry: false }));
      } catch {
        return compare(undefined);
      }
    },
    checkAsync: () => stat(file).then(compare, () => compare(undefined)),
  };
}

function reasonOf(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case "EACCES":
    case "EPERM":
      return "this user may not read and write there";
    case "ENOENT":
      return "it can't be created there";
    case "EROFS":
      return "its file system is read-only";
    case "ENOSPC":
      return "its file system is full";
    case "ELOOP":
      return "its symbolic links form a loop";
    case "ENAMETOOLONG":
      return "a name in it is too long";
    case "ENOTDIR":
    case "EEXIST":
      return "there is a file where the directory should be";
    default:
      return (error as Error).message;
  }
}

/** The directory that holds everything: made, checked, and its file system known before anything is opened. */
import { accessSync, constants, existsSync, mkdirSync, type Stats, statfsSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { AppError } from "../core/errors.ts";

// Magic numbers of statfs(2) for file systems whose locks and shared memory work on one host.
const LOCAL = new Map<number, string>([
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

export interface StateDirectory {
  path: string;
  databaseFile: string;
  /** `ext4`, or `unknown (0x6969)`. */
  fileSystem: string;
  /** Whether it is a known local one: then write-ahead logging works. */
  local: boolean;
}

/** Where a state directory has its database. */
export const databaseFileIn = (path: string): string => join(path, "millrace.db");

/** The journal that its file system can carry, as SQLite calls it. */
export const journalModeFor = ({ local }: Pick<StateDirectory, "local">): "wal" | "delete" =>
  local ? "wal" : "delete";

/** With its parents. Node's own `recursive` never ends where a parent exists and can't be written to, as in /proc. */
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
 * Makes the directory (mode 0700) if it is missing and says what kind of file system it is on.
 * @throws AppError storage_unavailable when it can't be made, read or written
 */
export function openStateDirectory(path: string): StateDirectory {
  return orUnavailable(path, () => {
    makeDirectory(resolve(path));
    return usable(path);
  });
}

/**
 * The same without making it.
 * @returns undefined where there is nothing yet
 * @throws AppError storage_unavailable when it can't be read or written
 */
export function findStateDirectory(path: string): StateDirectory | undefined {
  return orUnavailable(path, () =>
    statSync(path, { throwIfNoEntry: false }) === undefined ? undefined : usable(path),
  );
}

function usable(path: string): StateDirectory {
  if (!statSync(path).isDirectory())
    throw Object.assign(new Error("it is not a directory"), { code: "ENOTDIR" });
  accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  const type = statfsSync(path).type;
  const name = LOCAL.get(type);
  return {
    path,
    databaseFile: databaseFileIn(path),
    fileSystem: name ?? `unknown (0x${type.toString(16)})`,
    local: name !== undefined,
  };
}

function orUnavailable<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new AppError(
      "storage_unavailable",
      `The state directory ${path} can't be used: ${reasonOf(error)}. ` +
        "Point MILLRACE_STATE_DIR at a directory that this user may read and write.",
      { cause: error },
    );
  }
}

/** Whether an open file is still the one at its path: what is written to another is lost. */
export interface FileIdentity {
  /** What has become of it, or undefined. Two microseconds on a local file system. */
  check(): string | undefined;
  /** The same without waiting for a file system that hangs. */
  issueSoon(): Promise<string | undefined>;
}

/** Looks with stat, never open: closing any handle on the file would drop SQLite's locks on it. */
export function trackFileIdentity(file: string): FileIdentity {
  const { dev, ino } = statSync(file);
  const judge = (now: Stats | undefined): string | undefined => {
    if (now === undefined)
      return (
        "The database file is gone from the state directory. Stop all Millrace processes and restore a backup " +
        "(docs/operations.md): a restart would begin with an empty state."
      );
    if (now.ino !== ino || now.dev !== dev)
      return "The database file was replaced while it was in use. Restart this process.";
    return undefined;
  };
  return {
    check() {
      try {
        return judge(statSync(file, { throwIfNoEntry: false }));
      } catch {
        return judge(undefined);
      }
    },
    issueSoon: () => stat(file).then(judge, () => judge(undefined)),
  };
}

function reasonOf(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case "EACCES":
    case "EPERM":
      return "this user may not read and write there";
    case "ENOENT":
      return "nothing can be made there";
    case "EROFS":
      return "its file system is read-only";
    case "ENOSPC":
      return "its file system is full";
    case "ENOTDIR":
    case "EEXIST":
      return "there is a file where the directory should be";
    default:
      return (error as Error).message;
  }
}

/**
 * SQLite files in WAL mode. To read one, SQLite creates a `-wal` and a `-shm` file beside it, which a reader leaves behind, and
 * which it can't create where nothing can be written. A file that no process has open needs neither: with `immutable` SQLite reads
 * it alone, and takes no locks. So whether it stayed as it was has to be checked afterwards. (sqlite.org/wal.html, "Read-Only
 * Databases"; sqlite.org/uri.html; child processes load this file.)
 */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";

/** Suffixes of the files that SQLite writes beside a database. */
export const BESIDE = ["-wal", "-shm", "-journal"] as const;

/** The bytes of the header that say which versions of SQLite can write and read the file. (sqlite.org/fileformat.html) */
const VERSIONS = 18;
const WAL_VERSION = 2;

export interface UnusedFile {
  /** Opens the file alone. */
  url: URL;
  /** Whether no process has written it since. */
  isUnchanged(): boolean;
}

/** @returns undefined if the file is not in WAL mode, or if another process may have it open */
export function unusedWalFile(file: string): UnusedFile | undefined {
  const state = stateOf(file);
  if (state === undefined || !isInWalMode(file)) return undefined;
  const url = pathToFileURL(file);
  url.searchParams.set("immutable", "1");
  return { url, isUnchanged: () => stateOf(file) === state };
}

/** Whether a file has changes in its `-wal` that are not in the file itself yet. */
export const hasWal = (file: string): boolean => sizeOf(`${file}-wal`) > 0 && isInWalMode(file);

/** A text that changes when the file is written; undefined if another process may have it open, or there is none. */
function stateOf(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const { mtimeNs, ctimeNs, size, ino } = stats;
  const isInUse = sizeOf(`${file}-wal`) > 0 || BESIDE.slice(1).some((suffix) => sizeOf(file + suffix) >= 0);
  return isInUse ? undefined : [mtimeNs, ctimeNs, size, ino].join();
}

/** Size in bytes; -1 if there is no such file. */
const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? -1;

/**
 * Called while this process does not have the file open: closing a file drops its locks.
 * @returns false for a file that can't be read, which SQLite reports
 */
function isInWalMode(file: string): boolean {
  const versions = Buffer.alloc(2);
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, "r");
    readSync(descriptor, versions, 0, versions.length, VERSIONS);
  } catch {
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
  return versions.includes(WAL_VERSION);
}

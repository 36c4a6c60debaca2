/**
 * Copies a database into one file while others write: `VACUUM INTO` reads a consistent snapshot. A copy is written under a
 * temporary name, and gets its final name when it is complete and synced.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { AppError } from "../core/errors.ts";
import { isBusy, translateSqliteError } from "./sqlite-errors.ts";

/** Maximum wait for a lock, in milliseconds. The driver may wait synchronously, because the process serves no requests. */
const BUSY_TIMEOUT_MS = 30_000;
const PARTIAL = /^(.+)\.partial-[0-9a-f]{8}(?:-journal)?$/;

const mib = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MiB`;

/** A unique temporary name beside `file`. */
export const partialPathFor = (file: string): string => `${file}.partial-${randomBytes(4).toString("hex")}`;

/** Removes an unfinished copy and its journal. */
export function removePartial(partial: string): void {
  for (const file of [partial, `${partial}-journal`]) rmSync(file, { force: true });
}

/** Removes unfinished copies of killed processes. Copies in progress are locked, and stay. */
export function removeStalePartials(directory: string, isOurs: (finalName: string) => boolean): void {
  for (const name of readdirSync(directory)) {
    const finalName = PARTIAL.exec(name)?.[1];
    const path = join(directory, name);
    // Other programs may use the directory; only files are copies.
    const isFile = lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
    if (finalName === undefined || !isOurs(finalName) || !isFile) continue;
    if (!isLocked(path)) rmSync(path, { force: true });
  }
}

function isLocked(file: string): boolean {
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { timeout: 0, fileMustExist: true });
    db.exec("begin immediate");
    return false;
  } catch (error) {
    return isBusy(error);
  } finally {
    db?.close();
  }
}

/**
 * Copies a database into a new file that only this user can read.
 * @param readonly whether the source must not be written to, not even to recover it after a crash
 * @throws AppError storage_unavailable, also when the disk has too little space; the new file is removed then
 */
export function copyDatabase(source: string, partial: string, { readonly = false } = {}): void {
  let db: Database.Database | undefined;
  try {
    db = new Database(source, { timeout: BUSY_TIMEOUT_MS, fileMustExist: true, readonly });
    assertFreeSpace(dirname(partial), sizeOf(db));
    // Created first, because SQLite would take the permissions from the process's umask.
    closeSync(openSync(partial, "wx", 0o600));
    db.prepare("vacuum into ?").run(partial);
    // The log has grown meanwhile. Else the next commit of a run would write all of it into the database.
    if (!readonly) db.pragma("wal_checkpoint(PASSIVE)");
  } catch (error) {
    removePartial(partial);
    if ((error as { code?: unknown }).code === "SQLITE_FULL") throw notEnoughSpace(dirname(partial));
    throw translateSqliteError(error);
  } finally {
    db?.close();
  }
}

/** Maximum size of a copy, in bytes. */
function sizeOf(db: Database.Database): number {
  const pragma = (name: string): number => db.pragma(name, { simple: true }) as number;
  return pragma("page_count") * pragma("page_size");
}

/**
 * @param bytes the required free space
 * @throws AppError storage_unavailable when the directory's disk has less
 */
function assertFreeSpace(directory: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize < bytes) throw notEnoughSpace(directory, bytes, bavail * bsize);
}

function notEnoughSpace(directory: string, needed?: number, free?: number): AppError {
  const amounts =
    needed === undefined || free === undefined
      ? ""
      : `: it needs up to ${mib(needed)}, but only ${mib(free)} are free`;
  return new AppError(
    "storage_unavailable",
    `The disk of ${directory} has too little space for a copy of the database${amounts}. Nothing was changed. Free some space, then try again.`,
  );
}

/** Syncs a file to the disk. Never use it on an open database: closing the file would release its locks. */
export function syncFile(file: string): void {
  const fd = openSync(file, "r+");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Syncs the entries of a directory to the disk. */
function syncDirectory(directory: string): void {
  const fd = openSync(directory, "r");
  try {
    fsyncSync(fd);
  } catch (error) {
    // Some network file systems don't support it.
    if ((error as NodeJS.ErrnoException).code !== "EINVAL") throw error;
  } finally {
    closeSync(fd);
  }
}

/**
 * Gives a complete copy its final name, unless that exists already.
 * @throws Error with the code EEXIST
 */
export function finalizeCopy(partial: string, file: string): void {
  try {
    // Unlike a rename, a link never replaces an existing file.
    linkSync(partial, file);
    rmSync(partial);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(code ?? "")) throw error;
    // The file system has no links.
    if (pathExists(file)) throw Object.assign(new Error(`${file} already exists`), { code: "EEXIST" });
    renameSync(partial, file);
  }
  syncDirectory(dirname(file));
}

/** Whether anything has this path, including a dangling link. */
export const pathExists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

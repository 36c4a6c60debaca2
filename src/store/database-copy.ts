/**
 * Copies of a database as one file, made while others write: `VACUUM INTO` reads one state of it, whatever happens
 * meanwhile. A copy is written under a name of its own and gets the final one when it is whole and on the disk.
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

/** A copy is made by a process, or at a moment, that serves nobody: the driver may wait. */
const BUSY_TIMEOUT_MS = 30_000;
const PARTIAL = /^(.+)\.partial-[0-9a-f]{8}(?:-journal)?$/;

const mib = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MiB`;

/** A name beside `file` that nobody else has. */
export const partialPathFor = (file: string): string => `${file}.partial-${randomBytes(4).toString("hex")}`;

/** Removes a copy that was not finished, and the journal that the driver may have left beside it. */
export function removePartial(partial: string): void {
  for (const file of [partial, `${partial}-journal`]) rmSync(file, { force: true });
}

/** Removes what killed processes left in a directory; what one still writes to is locked, and stays. */
export function removeStalePartials(directory: string, isOurs: (finalName: string) => boolean): void {
  for (const name of readdirSync(directory)) {
    const finalName = PARTIAL.exec(name)?.[1];
    const path = join(directory, name);
    // The directory may be others' too: what is no file is none of ours.
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
 * Copies the database of one file into another that is not there yet, for this user only.
 * @param readonly whether the source may not be written to, not even to tidy up after a crash
 * @throws AppError storage_unavailable, also when the copy has no room; then nothing is left of it
 */
export function copyDatabase(source: string, partial: string, { readonly = false } = {}): void {
  let db: Database.Database | undefined;
  try {
    db = new Database(source, { timeout: BUSY_TIMEOUT_MS, fileMustExist: true, readonly });
    checkRoom(dirname(partial), sizeOf(db));
    // Made first: SQLite would leave who may read it to the process's umask.
    closeSync(openSync(partial, "wx", 0o600));
    db.prepare("vacuum into ?").run(partial);
  } catch (error) {
    removePartial(partial);
    if ((error as { code?: unknown }).code === "SQLITE_FULL") throw noRoom(dirname(partial));
    throw translateSqliteError(error);
  } finally {
    db?.close();
  }
}

/** How large a copy gets at most, in bytes. */
function sizeOf(db: Database.Database): number {
  const of = (name: string): number => db.pragma(name, { simple: true }) as number;
  return of("page_count") * of("page_size");
}

/**
 * @param bytes that are needed in the directory
 * @throws AppError storage_unavailable when there is less
 */
function checkRoom(directory: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize < bytes) throw noRoom(directory, bytes, bavail * bsize);
}

function noRoom(directory: string, needed?: number, free?: number): AppError {
  const amounts =
    needed === undefined || free === undefined
      ? ""
      : `: it needs up to ${mib(needed)}, and ${mib(free)} are free`;
  return new AppError(
    "storage_unavailable",
    `There is no room in ${directory} for a copy of the database${amounts}. Nothing was changed. Make room, then try again.`,
  );
}

/** Waits until a file is on the disk. Never of a database that is open: closing the file would drop its locks. */
export function syncFile(file: string): void {
  const fd = openSync(file, "r+");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Waits until the names in a directory are on the disk. */
function syncDirectory(directory: string): void {
  const fd = openSync(directory, "r");
  try {
    fsyncSync(fd);
  } catch (error) {
    // Some network file systems know no such thing.
    if ((error as NodeJS.ErrnoException).code !== "EINVAL") throw error;
  } finally {
    closeSync(fd);
  }
}

/**
 * Gives a whole copy its final name, unless something has that already.
 * @throws Error with the code EEXIST
 */
export function finalizeCopy(partial: string, file: string): void {
  try {
    // Unlike a rename this replaces nothing, whoever was faster.
    linkSync(partial, file);
    rmSync(partial);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(code ?? "")) throw error;
    // A file system without links.
    if (pathExists(file)) throw Object.assign(new Error(`${file} is there already`), { code: "EEXIST" });
    renameSync(partial, file);
  }
  syncDirectory(dirname(file));
}

/** Whether there is anything of that name, a link to nowhere included. */
export const pathExists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** The files that SQLite keeps for a database. */
export const databaseFilePaths = (databaseFile: string): string[] =>
  ["", "-wal", "-shm", "-journal"].map((suffix) => `${databaseFile}${suffix}`);

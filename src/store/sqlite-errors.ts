/** Translates SQLite's error codes. @see https://www.sqlite.org/rescode.html */
import { AppError } from "../core/errors.ts";

const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
};

/** Whether another connection holds the lock, so that a retry can succeed. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED");
}

/** Codes of a full disk. The second one comes when the database is opened: there is no space for the memory that is shared. */
const FULL_DISK = ["SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"] as const;

/** Messages for failures of the storage, by the beginning of SQLite's code. */
const STORAGE_FAILURES: readonly (readonly [prefix: string, message: string])[] = [
  ...FULL_DISK.map(
    (code) =>
      [
        code,
        "The disk of the state directory is full. Nothing was changed. Free some space, then try again.",
      ] as const,
  ),
  [
    "SQLITE_READONLY",
    "The state directory's files or file system are read-only. Nothing was changed. Make them writable.",
  ],
  ["SQLITE_CORRUPT", "The database in the state directory is damaged. Restore it from a backup."],
  [
    "SQLITE_NOTADB",
    "The file millrace.db in the state directory is not a Millrace database. Move it to another place, or restore a backup.",
  ],
  [
    "SQLITE_CANTOPEN",
    "The database in the state directory can't be opened. Check that it exists and that this user may read it.",
  ],
  [
    "SQLITE_IOERR",
    "Reading or writing the database failed. Check the disk or the network file system of the state directory.",
  ],
  ["SQLITE_PERM", "This user may not use the database in the state directory. Check its permissions."],
  [
    "SQLITE_PROTOCOL",
    "The file locks of the state directory's file system do not work. Use another file system.",
  ],
];

/** Whether the error means that the database can't be read, which does not include a full or read-only disk. */
export function isUnreachable(error: unknown): boolean {
  const code = codeOf(error instanceof AppError ? error.cause : error);
  return ["SQLITE_IOERR", "SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CANTOPEN"].some((prefix) =>
    code.startsWith(prefix),
  );
}

/** Whether it helps to wait: another process holds the lock, or the disk is full. */
export function isTemporarySqliteFailure(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : error;
  const code = codeOf(cause);
  return isBusy(cause) || FULL_DISK.some((prefix) => code.startsWith(prefix)) || code === "ENOSPC";
}

/** Whether reading or writing the file failed. On a network file system a lock may be lost then. */
export const isIoError = (error: unknown): boolean =>
  codeOf(error instanceof AppError ? error.cause : error).startsWith("SQLITE_IOERR");

/** @param holder the process that holds the lock, as far as it is known */
export const lockHeldError = (cause: unknown, holder?: string): AppError =>
  new AppError(
    "busy",
    `Another process holds the database lock${holder === undefined ? "" : ` (${holder})`}, and did not release it in time. ` +
      "Nothing was changed. Try again.",
    { cause, headers: { "Retry-After": "1" } },
  );

/** Converts an error of the driver to an AppError, and returns any other value as it is. */
export function translateSqliteError(error: unknown): unknown {
  if (isBusy(error)) return lockHeldError(error);
  const code = codeOf(error);
  const failure = STORAGE_FAILURES.find(([prefix]) => code.startsWith(prefix));
  if (failure === undefined) return error;
  return new AppError("storage_unavailable", failure[1], { cause: error, headers: { "Retry-After": "30" } });
}

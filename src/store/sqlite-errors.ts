/** What SQLite's error codes mean for who asked. @see https://www.sqlite.org/rescode.html */
import { AppError } from "../core/errors.ts";

const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
};

/** Whether another connection holds the lock and trying again can help. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED");
}

const STORAGE: readonly (readonly [prefix: string, message: string])[] = [
  ["SQLITE_FULL", "The disk that holds the state is full. Nothing was changed. Make room, then try again."],
  [
    "SQLITE_READONLY",
    "The state can't be written: its files or file system are read-only. Nothing was changed.",
  ],
  ["SQLITE_CORRUPT", "The database in the state directory is damaged. Restore it from a backup."],
  [
    "SQLITE_NOTADB",
    "The file millrace.db in the state directory is not a Millrace database. Move it away, or restore a backup.",
  ],
  [
    "SQLITE_CANTOPEN",
    "The database in the state directory can't be opened. Check that it is there and who may read it.",
  ],
  [
    "SQLITE_IOERR",
    "Reading or writing the state failed. Check the disk or the network file system that holds it.",
  ],
  ["SQLITE_PERM", "The state can't be used: this user may not."],
  ["SQLITE_PROTOCOL", "The locks of the state directory's file system do not work."],
];

/** Whether the error, ours or the driver's, says that the state can't even be read: not a full or read-only disk. */
export function isUnreachable(error: unknown): boolean {
  const code = codeOf(error instanceof AppError ? error.cause : error);
  return ["SQLITE_IOERR", "SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CANTOPEN"].some((it) =>
    code.startsWith(it),
  );
}

/** Whether reading or writing the file failed. On a network file system that means that a lock may be lost. */
export const isIoError = (error: unknown): boolean =>
  codeOf(error instanceof AppError ? error.cause : error).startsWith("SQLITE_IOERR");

/** A driver's error as one of ours; everything else as it is. */
export function translateSqliteError(error: unknown): unknown {
  if (isBusy(error)) {
    return new AppError(
      "busy",
      "The database is locked by another process, which did not finish in time. Nothing was changed. Try again.",
      {
        cause: error,
        headers: { "Retry-After": "1" },
      },
    );
  }
  const code = codeOf(error);
  const known = STORAGE.find(([prefix]) => code.startsWith(prefix));
  if (known === undefined) return error;
  return new AppError("storage_unavailable", known[1], { cause: error, headers: { "Retry-After": "30" } });
}

/** Why a file or directory can't be used, in words. */

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EACCES: "this user has no permission",
  EPERM: "this user has no permission",
  EISDIR: "it is a directory, not a file",
  ENOTDIR: "a part of the path is a file, not a directory",
  EEXIST: "it exists already",
  ENOSPC: "the disk is full",
  EROFS: "the file system is read-only",
};

/** The reason of an error of the file system; the message of any other error. */
export function fileProblem(error: unknown): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? message;
}

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
  ELOOP: "it is a link to itself",
  ENAMETOOLONG: "its name is too long",
  EMFILE: "this process has too many open files",
  ENOTEMPTY: "the directory is not empty",
};

/** Whether an error is one of the file system that people can put right. */
export const isFileProblem = (error: unknown): boolean =>
  Object.hasOwn(REASONS, (error as NodeJS.ErrnoException).code ?? "");

/** The reason of an error of the file system; the message of any other error. */
export function fileProblem(error: unknown): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? message;
}

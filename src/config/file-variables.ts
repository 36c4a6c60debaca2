/**
 * Reads variables from files, as Docker, Kubernetes and systemd provide secrets: if NAME is not set, NAME_FILE is the path
 * of a file with its value. The files are read once, at start.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { isAbsolute } from "node:path";

const SUFFIX = "_FILE";
/** Maximum size of a file, in bytes. */
const MAX_BYTES = 64 * 1024;

type Variables = Readonly<Record<string, string | undefined>>;

export interface ResolvedVariables {
  /** All variables, with the values that were read from files. */
  variables: Variables;
  /** An issue for each file that cannot be used. They never repeat a file's content. */
  issues: readonly string[];
}

export const fileVariableName = (name: string): string => `${name}${SUFFIX}`;

/**
 * Reads the files of the given variables, and only these: another NAME_FILE may have another meaning (SSL_CERT_FILE).
 * @param names variables to read; an empty value counts as not set
 */
export function resolveFileVariables(variables: Variables, names: Iterable<string>): ResolvedVariables {
  const read: Record<string, string | undefined> = {};
  const issues: string[] = [];
  for (const name of new Set(names)) {
    const fileVariable = fileVariableName(name);
    const path = variables[fileVariable];
    if (!path) continue;
    if (variables[name]) {
      issues.push(`environment: ${name} and ${fileVariable} are both set. Set only one of them`);
      continue;
    }
    const result = readValue(path);
    // Without the file variable, so that a second call does not report that both are set.
    if ("value" in result) Object.assign(read, { [name]: result.value, [fileVariable]: undefined });
    else issues.push(`environment: ${fileVariable} ${result.issue}`);
  }
  return { variables: { ...variables, ...read }, issues };
}

/** Reads a file, without the line break at its end that most editors and `echo` add. */
function readValue(path: string): { value: string } | { issue: string } {
  if (!isAbsolute(path))
    return {
      issue: "must be an absolute path (its value is not shown, because it may be the secret itself)",
    };
  let bytes: Buffer;
  try {
    bytes = firstBytes(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { issue: `names ${path}, which cannot be read: ${READ_ERRORS[code ?? ""] ?? message}` };
  }
  if (bytes.length > MAX_BYTES)
    return { issue: `names ${path}, which is larger than ${MAX_BYTES / 1024} KiB` };
  const value = textOf(bytes)?.replace(/\r?\n$/, "");
  if (value === undefined) return { issue: `names ${path}, which is not UTF-8 text` };
  return value === "" ? { issue: `names ${path}, which is empty` } : { value };
}

const READ_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EACCES: "this user has no permission to read it",
  EISDIR: "it is a directory",
};

/** Reads one byte more than the maximum, to detect larger files. O_NONBLOCK, because a pipe may have no writer. */
function firstBytes(path: string): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (stats.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    // Every process reads the file, also after a restart, but a pipe can be read only once.
    if (!stats.isFile()) throw new Error("it is not a regular file");
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count)
      count = readSync(file, bytes, length, bytes.length - length, null);
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

/** Decodes the value; undefined for bytes that an environment variable cannot hold. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

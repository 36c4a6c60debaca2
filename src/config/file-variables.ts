/**
 * Variables whose values stand in files, as Docker, Kubernetes and systemd hand secrets over: where NAME is not set,
 * NAME_FILE says which file holds its value. Read once, at start; nothing else knows of files.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { isAbsolute } from "node:path";

const SUFFIX = "_FILE";
const LARGEST = 64 * 1024;

type Variables = Readonly<Record<string, string | undefined>>;

export interface ResolvedVariables {
  /** All variables, with the values that stood in files. */
  variables: Variables;
  /** Every file that can't be used; none of them is repeated. */
  issues: readonly string[];
}

export const fileVariableName = (name: string): string => `${name}${SUFFIX}`;

/**
 * Looks up the files of some variables. Only of these: others' NAME_FILE may mean anything (SSL_CERT_FILE).
 * @param names variables that are read; an empty value is the same as none
 */
export function resolveFileVariables(variables: Variables, names: Iterable<string>): ResolvedVariables {
  const read: Record<string, string | undefined> = {};
  const issues: string[] = [];
  for (const name of new Set(names)) {
    const by = fileVariableName(name);
    const path = variables[by];
    if (!path) continue;
    if (variables[name]) {
      issues.push(`environment: ${name} and ${by} are both set; set one of them`);
      continue;
    }
    const found = contents(path);
    // The file is done with: who looks again finds the value alone.
    if ("value" in found) Object.assign(read, { [name]: found.value, [by]: undefined });
    else issues.push(`environment: ${by} ${found.issue}`);
  }
  return { variables: { ...variables, ...read }, issues };
}

/** What a file holds, without the line break that most editors and `echo` leave at its end. */
function contents(path: string): { value: string } | { issue: string } {
  if (!isAbsolute(path))
    return { issue: "must be an absolute path (not repeated here: it may be the secret itself)" };
  let bytes: Buffer;
  try {
    bytes = firstBytes(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { issue: `names ${path}, which can't be read: ${READ_ERRORS[code ?? ""] ?? message}` };
  }
  if (bytes.length > LARGEST)
    return { issue: `names ${path}, which is larger than ${LARGEST / 1024} KiB: that is no secret` };
  const value = textOf(bytes)?.replace(/\r?\n$/, "");
  if (value === undefined) return { issue: `names ${path}, which is no text (UTF-8)` };
  return value === "" ? { issue: `names ${path}, which is empty` } : { value };
}

const READ_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EACCES: "this user may not read it",
  EISDIR: "it is a directory",
};

/** One byte more than may be, to tell. Never waits: nobody may be at the other end of a pipe. */
function firstBytes(path: string): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (stats.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    // Each process reads it again, and so does one that takes its place: a pipe gives its contents once.
    if (!stats.isFile()) throw new Error("it is not a regular file");
    const bytes = Buffer.alloc(LARGEST + 1);
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count)
      count = readSync(file, bytes, length, bytes.length - length, null);
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

/** Undefined for what can't stand in a variable. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

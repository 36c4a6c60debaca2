/** Files with secrets, as Docker, Kubernetes and systemd provide them. */
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { SECOND } from "../core/clock.ts";
import { decodeSecret, MAX_SECRET_BYTES, type Reading } from "./secret-text.ts";

/** How long after its last change a file is read at each poll, because its times may not show another change. */
const SETTLING_MS = 2 * SECOND;

export interface SecretFile {
  /** Reads the file if it may have changed since the last call; undefined if it has not. */
  poll(): Reading | undefined;
}

/** @param path a symbolic link is followed each time, because Kubernetes replaces the link */
export function secretFile(path: string): SecretFile {
  let last: string | undefined;
  return {
    poll() {
      const stamp = stampOf(path);
      if (stamp !== undefined && stamp === last) return undefined;
      last = stamp;
      return readSecretFile(path);
    },
  };
}

/** Identifies the content of a file; undefined while that is not certain. */
function stampOf(path: string): string | undefined {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = statSync(path, { bigint: true });
    if (Date.now() - Number(ctimeMs) < SETTLING_MS) return undefined;
    return [dev, ino, size, mtimeNs, ctimeNs].join(":");
  } catch {
    return undefined;
  }
}

/** Reads a file. @returns a problem as a clause that follows its path */
export function readSecretFile(path: string): Reading {
  let bytes: Buffer;
  try {
    bytes = firstBytes(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { problem: `cannot be read: ${READ_ERRORS[code ?? ""] ?? message}` };
  }
  return decodeSecret(bytes);
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
    // Every process reads the file, more than once, but a pipe can be read only once.
    if (!stats.isFile()) throw new Error("it is not a regular file");
    const bytes = Buffer.alloc(MAX_SECRET_BYTES + 1);
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count)
      count = readSync(file, bytes, length, bytes.length - length, null);
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

/** Where Docker mounts the secrets of one container, for any user in it. */
const OF_ONE_CONTAINER = "/run/secrets/";

/** Whether every user of the machine can read a file: it, and all directories above it, allow that. */
export function isReadableByAll(path: string): boolean {
  if (path.startsWith(OF_ONE_CONTAINER)) return false;
  try {
    const real = realpathSync(path);
    return allows(real, 0o004) && parentsOf(real).every((directory) => allows(directory, 0o001));
  } catch {
    return false;
  }
}

const allows = (path: string, permission: number): boolean => (statSync(path).mode & permission) !== 0;

function parentsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...parentsOf(parent)];
}

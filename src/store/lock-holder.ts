/** Finds the process that holds the write lock of a database, as far as the system shows it. */
import { readFile, stat } from "node:fs/promises";

/** The locks of all processes. Only Linux has it. */
const LOCKS = "/proc/locks";
/** The lock bytes of a write-ahead log in its index file: to write, to checkpoint, to recover. @see https://sqlite.org/walformat.html */
const WAL_LOCKS = { first: 120, last: 122 };
/** The lock bytes of a database file: a writer has the pending or the reserved one. */
const FILE_LOCKS = { first: 0x4000_0000, last: 0x4000_0001 };

/**
 * Describes the process that holds the write lock, such as `process 4711, which is stopped (SIGSTOP)`.
 * @returns undefined when the system does not show it: on other systems, in other containers and on other machines
 */
export async function describeLockHolder(databaseFile: string): Promise<string | undefined> {
  const locks = await readFile(LOCKS, "utf8").catch(() => "");
  const holder =
    (await findHolder(locks, `${databaseFile}-shm`, WAL_LOCKS)) ??
    (await findHolder(locks, databaseFile, FILE_LOCKS));
  if (holder === undefined) return undefined;
  return `process ${holder}${(await isStopped(holder)) ? ", which is stopped (SIGSTOP or a debugger)" : ""}`;
}

/** Lines such as `3: POSIX  ADVISORY  WRITE 4711 08:01:393217 120 120`. */
async function findHolder(
  locks: string,
  file: string,
  { first, last }: { first: number; last: number },
): Promise<number | undefined> {
  const inode = await stat(file, { bigint: true }).then(
    ({ ino }) => ino,
    () => undefined,
  );
  for (const line of locks.split("\n")) {
    const [, kind, , mode, pid, place, from, to] = line.trim().split(/\s+/);
    if (kind !== "POSIX" || mode !== "WRITE" || place?.split(":")[2] !== String(inode)) continue;
    const isWithin = Number(from) <= last && (to === "EOF" || Number(to) >= first);
    // A process of another container has no number here.
    if (isWithin && Number(pid) > 0) return Number(pid);
  }
  return undefined;
}

/** The state is the first field after the name of the program, which is in brackets. */
async function isStopped(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return /^[Tt] /.test(status.slice(status.lastIndexOf(")") + 2));
}

/**
 * Notices processes of releases that know no projects, on this machine: servers without an executor (`--workers 0`) leave no
 * trace in the state. A process of this release keeps the state directory itself open, beside the database; older ones do not.
 */
import { closeSync, openSync } from "node:fs";
import { readdir, readlink, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";

/** Where the system shows processes and what they have open. Only Linux has it. */
const PROCESSES = "/proc";

/** Number of times that a process must look like one of an older release. */
const LOOKS = 3;

/** Keeps the state directory open. @returns a function that closes it */
export function markProcess(directory: string): () => void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(directory, "r");
  } catch {
    // A system without /proc may not open directories, and nothing is noticed there anyway.
  }
  return () => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
}

/**
 * Returns the ids of processes that have the database open and are not of this release, as far as the system shows them: those
 * of other containers, machines and users stay unseen.
 */
export async function findOlderProcesses(databaseFile: string): Promise<number[]> {
  const database = await identityOf(databaseFile);
  const directory = await identityOf(dirname(databaseFile));
  const found: number[] = [];
  /** Whether a process has the database open, and not the directory. */
  async function isUnmarked(name: string): Promise<boolean> {
    const descriptors = `${PROCESSES}/${name}/fd`;
    let hasDatabase = false;
    const paths: string[] = [];
    for (const descriptor of await listed(descriptors)) {
      const path = `${descriptors}/${descriptor}`;
      paths.push(path);
      const target = hasDatabase ? "" : await readlink(path).catch(() => "");
      if (basename(target) === basename(databaseFile)) hasDatabase = isSame(await identityOf(path), database);
    }
    if (!hasDatabase) return false;
    const opened = await Promise.all(paths.map(identityOf));
    return !opened.some((identity) => isSame(identity, directory));
  }
  for (const name of await listed(PROCESSES)) {
    if (!/^\d+$/.test(name)) continue;
    // A process of this release may close both between the two looks, such as a command that ends.
    let looks = 0;
    while (looks < LOOKS && (await isUnmarked(name))) looks += 1;
    if (looks === LOOKS) found.push(Number(name));
  }
  return found;
}

interface Identity {
  dev: number;
  ino: number;
}

/** Uses stat and never open: closing a handle on the database would release SQLite's locks on it. */
const identityOf = (path: string): Promise<Identity | undefined> =>
  stat(path).then(
    ({ dev, ino }) => ({ dev, ino }),
    () => undefined,
  );

const isSame = (a: Identity | undefined, b: Identity | undefined): boolean =>
  a !== undefined && a.dev === b?.dev && a.ino === b.ino;

/** The entries of a directory; none if it can't be read, such as that of a process that has ended. */
const listed = (path: string): Promise<string[]> => readdir(path).catch(() => []);

import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const MEMORY = "/dev/shm";
const GIB = 2 ** 30;

/** Where databases of tests are: in memory if there is room, because each commit on a disk waits for the disk. */
export function databasePlace(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > 2 * GIB ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

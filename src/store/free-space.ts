/** Measures the free space of the state directory's file system, so that new runs are refused before it is full. */
import { statfs } from "node:fs/promises";
import { AppError } from "../core/errors.ts";

const MIB = 1024 ** 2;
/** The default of `limits.free_disk`: this share of the file system, at most `MAX_DEFAULT_BYTES`. */
const DEFAULT_SHARE = 0.05;
const MAX_DEFAULT_BYTES = 512 * MIB;
/** How long a measurement is used, in milliseconds: no request pays for a system call of its own. */
const MAX_AGE_MS = 1_000;

/** A file system, in bytes. */
interface DiskSpace {
  free: number;
  total: number;
}

/** Reads the space that this user can write to. */
export type ReadDiskSpace = (path: string) => Promise<DiskSpace>;

/** Asks the operating system. */
export const readDiskSpace: ReadDiskSpace = async (path) => {
  const { bavail, blocks, bsize } = await statfs(path);
  return { free: bavail * bsize, total: blocks * bsize };
};

/**
 * The free space in bytes below which no new runs start.
 * @param configured `limits.free_disk`; undefined for the default, which small volumes can meet
 */
export const minFreeBytes = (configured: number | undefined, total: number): number =>
  configured ?? Math.min(MAX_DEFAULT_BYTES, Math.floor(total * DEFAULT_SHARE));

/**
 * Returns a function that throws while the file system has too little space for new runs. A failed measurement is not
 * a reason to refuse runs: the write itself reports what is wrong.
 * @param path a directory on the file system; undefined for a database on a server, which guards its own
 * @param options.minFree `limits.free_disk`, in bytes; undefined for the default, 0 for no limit
 * @param options.now milliseconds of a monotonic clock
 * @throws AppError storage_full (the returned function)
 */
export function diskSpaceGuard(
  path: string | undefined,
  {
    minFree,
    read = readDiskSpace,
    now = () => performance.now(),
  }: { minFree: number | undefined; read?: ReadDiskSpace | undefined; now?: () => number },
): () => Promise<void> {
  let measuredAt = -Infinity;
  let shortOf: number | undefined;
  let measuring: Promise<void> | undefined;

  async function measure(): Promise<void> {
    try {
      const { free, total } = await read(path!);
      const required = minFreeBytes(minFree, total);
      shortOf = free < required ? required : undefined;
    } catch {
      shortOf = undefined;
    }
    measuredAt = now();
  }

  return async () => {
    if (path === undefined || minFree === 0) return;
    if (now() - measuredAt >= MAX_AGE_MS)
      await (measuring ??= measure().finally(() => (measuring = undefined)));
    if (shortOf !== undefined) throw storageFull(shortOf);
  };
}

/** The message names no amount that changes with each measurement, so that an outage is logged once. */
const storageFull = (required: number): AppError =>
  new AppError(
    "storage_full",
    `The file system of the state directory has less than ${Math.ceil(required / MIB)} MiB free, so no new runs start ` +
      "(limits.free_disk). Running runs continue, and everything else works. Nothing was changed. Ask the operator to " +
      "free some space (a shorter retention.runs, millrace storage prune-versions, or a larger volume), then start the run again.",
    { headers: { "Retry-After": "60" } },
  );

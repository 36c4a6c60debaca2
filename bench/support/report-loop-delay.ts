/**
 * Watches the event loop of a process, loaded into it with `--import`: after SIGUSR2 it writes the longest delays since the last
 * signal to a file with its process id in LOOP_DELAY_DIRECTORY.
 */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

/** The delays of one process, in milliseconds. */
export interface LoopDelay {
  command: string;
  max: number;
  p99: number;
}

/** Interval of the samples, in milliseconds; a delay is what a sample is late. */
const RESOLUTION_MS = 5;

const late = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);

const directory = process.env["LOOP_DELAY_DIRECTORY"];
const [, , command] = process.argv;
if (directory !== undefined && isMainThread && command !== undefined) {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  process.on("SIGUSR2", () => {
    const delay: LoopDelay = { command, max: late(histogram.max), p99: late(histogram.percentile(99)) };
    histogram.reset();
    const file = join(directory, `${process.pid}.json`);
    writeFileSync(`${file}.partial`, JSON.stringify(delay));
    renameSync(`${file}.partial`, file);
  });
}

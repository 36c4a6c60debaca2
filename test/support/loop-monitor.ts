/**
 * Measures the longest turn of the event loop in processor time, so that a busy machine changes nothing. Loaded into a
 * listener with `--import`; answers over the socket LOOP_MONITOR with the longest turn since the last question.
 */
import { createServer } from "node:net";
import { isMainThread } from "node:worker_threads";
import { keepNormalPriority } from "./normal-priority.ts";

/** Interval of the samples, in milliseconds. A turn can't be missed: a timer runs once in each. */
const SAMPLE_MS = 2;

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

const socketPath = process.env["LOOP_MONITOR"];
// Only in the listener, not in its threads and child processes.
if (socketPath !== undefined && isMainThread && ["serve", "mcp-sse"].includes(process.argv[2] ?? "")) {
  keepNormalPriority();
  let last = cpuMs();
  let longest = 0;
  const sample = (): void => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  setInterval(sample, SAMPLE_MS).unref();
  createServer((socket) => {
    // Two samples later every turn that began before the question is counted.
    setTimeout(() => {
      socket.end(String(longest));
      longest = 0;
    }, 3 * SAMPLE_MS);
  })
    .listen(socketPath)
    .unref();
}

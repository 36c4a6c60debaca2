/** Measures times that do not grow while the machine is busy with something else. */
import { readdirSync, readFileSync } from "node:fs";

/** Returns the processor time of this thread since the call of `startCpuTimer`, in milliseconds. */
export function startCpuTimer(): () => number {
  const before = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
}

/** Runs `work`. @returns its processor time, in milliseconds */
export function cpuTimeOf(work: () => unknown): number {
  const cpuTime = startCpuTimer();
  work();
  return cpuTime();
}

/** Milliseconds that all threads of a process were ready to run but had no processor; 0 where the system doesn't tell. */
export function threadsWaited(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.reduce((sum, id) => sum + waitedForProcessor(`${pid}/task/${id}`), 0) / 1_000_000;
  } catch {
    return 0;
  }
}

/** Nanoseconds that a main thread, or this thread, was ready to run but had no processor; 0 where the system doesn't tell. */
function waitedForProcessor(process: number | string): number {
  try {
    return Number(readFileSync(`/proc/${process}/schedstat`, "utf8").split(" ")[1]);
  } catch {
    return 0;
  }
}

/**
 * Returns the time that has elapsed since the call, in milliseconds, without the time in which this thread, or another process,
 * was ready to run and others had the processors. So time in which it sleeps or blocks counts, unlike in processor time.
 * @param pid of a process that serves this one
 */
export function startUndisturbedTimer(pid?: number): () => number {
  const waited = (): number =>
    waitedForProcessor("thread-self") + (pid === undefined ? 0 : waitedForProcessor(pid));
  const [start, before] = [performance.now(), waited()];
  return () => performance.now() - start - (waited() - before) / 1_000_000;
}

/** Heavy work of one owner runs at a lower priority than the event loops that serve everybody. */
import { platform, setPriority } from "node:os";

/** A "nice" value: a thread that has to wait gets about a tenth of the processor time of one with the default, 0. */
const BACKGROUND = 10;

/** Lowers the priority of a process that has just started; the threads that it starts inherit it. */
export const lowerProcessPriority = (pid: number): void => lowerPriority(pid);

/** Lowers the priority of the calling thread. On Linux a thread has its own (setpriority(2), "C library/kernel differences"). */
export function lowerThreadPriority(): void {
  // Elsewhere it would be that of the whole process.
  if (platform() === "linux") lowerPriority(0);
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, BACKGROUND);
  } catch {
    // The process has ended, or a sandbox forbids the call. The work is right at any priority.
  }
}

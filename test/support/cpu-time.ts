/** Measures processor time instead of elapsed time, so that figures hold while the machine is busy with something else. */

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

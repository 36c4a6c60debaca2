import pLimit from "p-limit";
import { abortError } from "./driver.ts";

/**
 * Limits how many tasks run at the same time, in the order in which they came.
 * @param size maximum number of running tasks
 * @returns a function that runs a task in its turn; it rejects as soon as the signal is aborted while the task waits
 */
export function createSemaphore(
  size: number,
): <T>(signal: AbortSignal, task: () => Promise<T>) => Promise<T> {
  const limit = pLimit(size);
  return async (signal, task) => {
    if (signal.aborted) throw abortError(signal);
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => reject(abortError(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    const result = limit(async () => {
      signal.removeEventListener("abort", onAbort);
      if (signal.aborted) throw abortError(signal);
      return task();
    });
    return Promise.race([result, aborted]);
  };
}

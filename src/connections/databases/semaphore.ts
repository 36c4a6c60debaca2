/** A few at a time, first come, first served. */
import { abortError } from "./driver.ts";

/**
 * @param size how many may work at a time
 * @returns waits for a turn, then works; throws the signal's reason where that comes first
 */
export function createSemaphore(
  size: number,
): <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = size;

  /** A turn that ends is handed to the next in the line. */
  const take = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(abortError(signal));
      if (free > 0) {
        free -= 1;
        return resolve();
      }
      const go = (): void => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        waiting.splice(waiting.indexOf(go), 1);
        reject(abortError(signal));
      };
      waiting.push(go);
      signal.addEventListener("abort", leave, { once: true });
    });

  return async (signal, work) => {
    await take(signal);
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

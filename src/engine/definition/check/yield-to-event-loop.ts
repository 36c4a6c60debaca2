/** Lets other work of the process go on in the middle of a long one. */
import { setImmediate } from "node:timers/promises";

const STRETCH_MS = 12;

/**
 * @returns a function to be awaited between pieces of work: it gives way once so many milliseconds have gone by
 * @throws the signal's reason once it is aborted
 */
export function periodicYield(signal: AbortSignal | undefined): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < STRETCH_MS) return;
    await setImmediate();
    signal?.throwIfAborted();
    since = performance.now();
  };
}

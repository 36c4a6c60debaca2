import { setImmediate } from "node:timers/promises";

/** Maximum time without a yield, in milliseconds. */
const INTERVAL_MS = 12;

/**
 * Returns a function to await between pieces of long work. It yields to the event loop if the last yield is long ago, and
 * then throws the reason of the signal if that is aborted.
 */
export function periodicYield(signal: AbortSignal | undefined): () => Promise<void> {
  let lastYield = performance.now();
  return async () => {
    if (performance.now() - lastYield < INTERVAL_MS) return;
    await setImmediate();
    signal?.throwIfAborted();
    lastYield = performance.now();
  };
}

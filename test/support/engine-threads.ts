import { type EngineThreads, engineThreads } from "../../src/engine/threads/engine-threads.ts";

let shared: EngineThreads | undefined;

/**
 * Threads that all instances of a process of tests share: each start of one loads the checker, which takes about a second of a
 * processor. Closing an instance leaves them.
 */
export function sharedEngineThreads(): EngineThreads {
  shared ??= engineThreads();
  return { ...shared, close: () => Promise.resolve() };
}

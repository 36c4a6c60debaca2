import type { Worker } from "node:worker_threads";

/**
 * Waits for the next message of a worker.
 * @param ms timeout, in milliseconds
 * @throws Error if the worker fails, ends, or does not answer in time
 */
export function nextMessage<T>(worker: Worker, ms: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => reject(new Error(`it takes longer than ${ms / 1_000} s`)), ms);
  worker.once("message", resolve);
  worker.once("error", reject);
  const ended = (): void => reject(new Error("its thread ended"));
  worker.once("exit", ended);
  return promise.finally(() => {
    clearTimeout(timer);
    worker.off("message", resolve);
    worker.off("error", reject);
    worker.off("exit", ended);
    // Later errors do not matter, but must not be unhandled.
    worker.on("error", () => undefined);
  });
}

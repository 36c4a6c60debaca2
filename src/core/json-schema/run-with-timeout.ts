/** Interrupts synchronous code that the author of a workflow can make expensive. */
import { createContext, Script } from "node:vm";

const CALL = new Script("work()");
// Created once: a context costs more than most of the work. Only our own code runs in it, so it needs no isolation.
const context = createContext({ work: () => undefined as unknown });

export const isTimeout = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";

/**
 * Runs `work`, and once more if it timed out, because the time also passes while the machine is busy with something
 * else.
 * @param ms timeout of each run, in milliseconds
 * @param work must be synchronous, not call this function, and tolerate being interrupted anywhere
 * @throws what `work` throws, or an error for which `isTimeout` holds
 */
export function runWithTimeout<T>(ms: number, work: () => T): T {
  context["work"] = work;
  const call = (): T => CALL.runInContext(context, { timeout: ms }) as T;
  try {
    return call();
  } catch (error) {
    if (isTimeout(error)) return call();
    throw error;
  } finally {
    context["work"] = undefined;
  }
}

/** Interrupts synchronous code that the author of a workflow can make expensive. */
import { threadCpuUsage } from "node:process";
import { createContext, Script } from "node:vm";

const CALL = new Script("work()");
// Created once: a context costs more than most of the work. Only our own code runs in it, so it needs no isolation.
const context = createContext({ work: () => undefined as unknown });

export const isTimeout = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";

/** Share of the timeout that must be processor time: below it, the machine was busy with something else. */
const MIN_CPU_SHARE = 0.8;
/** How much longer the second run may take. */
const SECOND_RUN_FACTOR = 4;

/**
 * Runs `work`. If it times out although it got little processor time, because the machine is busy with something else,
 * it runs once more with a longer timeout.
 * @param ms timeout, in milliseconds
 * @param work must be synchronous, not call this function, and tolerate being interrupted anywhere
 * @throws what `work` throws, or an error for which `isTimeout` holds
 */
export function runWithTimeout<T>(ms: number, work: () => T): T {
  context["work"] = work;
  const call = (timeout: number): T => CALL.runInContext(context, { timeout }) as T;
  const before = threadCpuUsage();
  try {
    return call(ms);
  } catch (error) {
    const { user, system } = threadCpuUsage(before);
    if (!isTimeout(error) || (user + system) / 1_000 >= ms * MIN_CPU_SHARE) throw error;
    return call(ms * SECOND_RUN_FACTOR);
  } finally {
    context["work"] = undefined;
  }
}

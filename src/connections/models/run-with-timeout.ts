/**
 * Interrupts synchronous code that the author of a workflow can make expensive. Only an executor does this: each call needs file
 * descriptors, and Node aborts the process when there are none, so processes that anybody can connect to use threads instead.
 */
import { threadCpuUsage } from "node:process";
import { createContext, Script } from "node:vm";
import { AppError } from "../../core/errors.ts";

const CALL = new Script("work()");
// Created once: a context costs more than most of the work. Only our own code runs in it, so it needs no isolation.
const context = createContext({ work: () => undefined as unknown });

export const isTimeout = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";

/** How many times its processor time the work may take, on a machine that is busy with something else. */
const WALL_FACTOR = 4;

/**
 * Runs `work` once. It may use more than `ms`, because only elapsed time can interrupt it.
 * @param ms processor time that it may use, in milliseconds
 * @param work must be synchronous, not call this function, and tolerate being interrupted anywhere
 * @throws what `work` throws; an error for which `isTimeout` holds; AppError busy if it got less time than it may use
 */
export function runWithTimeout<T>(ms: number, work: () => T): T {
  context["work"] = work;
  const before = threadCpuUsage();
  try {
    return CALL.runInContext(context, { timeout: ms * WALL_FACTOR }) as T;
  } catch (error) {
    const { user, system } = threadCpuUsage(before);
    if (!isTimeout(error) || (user + system) / 1_000 >= ms) throw error;
    throw new AppError(
      "busy",
      "The machine is too busy to validate this now. Nothing was done. Try again in 5 s.",
      {
        headers: { "Retry-After": "5" },
      },
    );
  } finally {
    context["work"] = undefined;
  }
}

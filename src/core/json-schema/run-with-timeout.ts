/** Runs code that a workflow's author can make expensive, for so long and no longer. */
import { createContext, Script } from "node:vm";

const CALL = new Script("work()");
// Made once: a context costs more than most of the work. What runs is our own code, so nothing has to be kept apart.
const context = createContext({ work: () => undefined as unknown });

/** Whether the error says that the time was up. */
export const isTimeout = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";

/**
 * Calls `work`, which must be synchronous, not call this again, and bear to be stopped anywhere and called once more:
 * the time also runs while the machine does something else, and only what takes too long twice is too long itself.
 * @param ms how long it may take
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

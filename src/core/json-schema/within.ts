/** Runs code that a workflow's author can make expensive, for so long and no longer. */
import { createContext, Script } from "node:vm";

const CALL = new Script("work()");
// Made once: a context costs more than most of the work. What runs is our own code, so nothing has to be kept apart.
const context = createContext({ work: () => undefined as unknown });

/** Whether the error says that the time was up. */
export const isTimeout = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";

/**
 * Calls `work`, which must be synchronous and not call this again.
 * @param ms how long it may take
 * @throws what `work` throws, or an error for which `isTimeout` holds
 */
export function within<T>(ms: number, work: () => T): T {
  context["work"] = work;
  try {
    return CALL.runInContext(context, { timeout: ms }) as T;
  } finally {
    context["work"] = undefined;
  }
}

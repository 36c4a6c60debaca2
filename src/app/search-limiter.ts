import { createFairPool } from "../connections/fair-pool.ts";
import { AppError } from "../core/errors.ts";
import type { LimitSearch } from "../core/search-limiter.ts";

/** Maximum number of searches of a process at the same time. One owner alone gets two of them. */
const MAX_SEARCHES = 3;
/** How long a search waits for others, in milliseconds. */
const MAX_WAIT_MS = 10_000;

/** Lets few searches run at the same time; their owners take turns. */
export function createSearchLimiter({ maxWaitMs = MAX_WAIT_MS } = {}): LimitSearch {
  const places = createFairPool(MAX_SEARCHES);
  return async ({ owner, signal }, search) => {
    const state = { isStarted: false };
    try {
      return await places.run(
        { owner, signal: AbortSignal.any([signal, AbortSignal.timeout(maxWaitMs)]) },
        () => {
          state.isStarted = true;
          return search();
        },
      );
    } catch (error) {
      if (state.isStarted) throw error;
      if (signal.aborted)
        throw new AppError("request_timeout", "The client disconnected before its search began.");
      throw new AppError("busy", "Too many runs are being searched at the moment. Try again in 5 s.", {
        cause: error,
        headers: { "Retry-After": "5" },
      });
    }
  };
}

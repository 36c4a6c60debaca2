/** Counts requests per minute by their sender, on this process. */
import { LRUCache } from "lru-cache";
import { MINUTE } from "../core/clock.ts";

/** Maximum number of senders that are counted. Beyond it, the count of the least recent one is dropped. */
const MAX_COUNTED = 10_000;

/**
 * Returns a function that counts a request. A window begins with the first request of a sender, and ends a minute later.
 * @param perMinute maximum number of requests in a window
 * @param now monotonic time, in milliseconds
 * @returns undefined when the request is within the limit; else the seconds until the window ends
 */
export function requestWindow(perMinute: number, now: () => number): (sender: string) => number | undefined {
  const windows = new LRUCache<string, { requests: number }>({
    // `max` would reserve its places at once, for each of the windows of a process.
    maxSize: MAX_COUNTED,
    sizeCalculation: () => 1,
    ttl: MINUTE,
    ttlResolution: 0,
    perf: { now },
  });
  return (sender) => {
    const window = windows.get(sender) ?? { requests: 0 };
    if (window.requests === 0) windows.set(sender, window);
    window.requests += 1;
    if (window.requests <= perMinute) return undefined;
    return Math.max(1, Math.ceil(windows.getRemainingTTL(sender) / 1000));
  };
}

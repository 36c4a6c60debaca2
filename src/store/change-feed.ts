/** Changes of the SQLite file, seen by polling its data version. */
import type { ChangeFeed } from "../core/change-feed.ts";
import type { StateDirectory } from "./state-directory.ts";

/** Poll intervals in milliseconds. On a network file system each poll is several round trips, which block the process. */
const LOCAL_POLL_MS = 10;
const NETWORK_POLL_MS = 200;

interface Subscriber {
  listener: () => void;
  intervalMs: number;
  /** The data version that was current when the subscriber was last called. */
  version: number | undefined;
  /** When it is next due to be called, by the monotonic clock. */
  dueAt: number;
}

/**
 * The change feed of an open store. It polls only while there are subscribers, at the shortest of their intervals.
 * @param readDataVersion a number that changes with each commit of another process
 */
export function sqliteChangeFeed(
  { local }: Pick<StateDirectory, "local">,
  readDataVersion: () => number,
): ChangeFeed {
  const pollMs = local ? LOCAL_POLL_MS : NETWORK_POLL_MS;
  const subscribers = new Set<Subscriber>();
  let timer: NodeJS.Timeout | undefined;

  function dataVersion(): number | undefined {
    try {
      return readDataVersion();
    } catch {
      // The next poll reads it again.
      return undefined;
    }
  }

  function poll(): void {
    const now = performance.now();
    // A subscriber that would be due before the next poll is due now, so that all share the polls.
    const due = [...subscribers].filter(({ dueAt }) => dueAt < now + pollMs);
    const version = due.length === 0 ? undefined : dataVersion();
    for (const subscriber of due) {
      subscriber.dueAt = now + subscriber.intervalMs;
      if (version === undefined || subscriber.version === version) continue;
      subscriber.version = version;
      // The listener of another subscriber may have ended this subscription.
      if (subscribers.has(subscriber)) subscriber.listener();
    }
    schedulePoll();
  }

  /** Polls when the next subscriber is due, whichever subscriptions begin and end meanwhile. */
  function schedulePoll(): void {
    clearTimeout(timer);
    if (subscribers.size === 0) return;
    const dueAt = Math.min(...[...subscribers].map((subscriber) => subscriber.dueAt));
    timer = setTimeout(poll, Math.max(dueAt - performance.now(), 0)).unref();
  }

  return {
    subscribe(listener, { maxDelayMs = 0 } = {}) {
      const intervalMs = Math.max(pollMs, maxDelayMs);
      const subscriber: Subscriber = {
        listener,
        intervalMs,
        version: dataVersion(),
        dueAt: performance.now() + intervalMs,
      };
      subscribers.add(subscriber);
      schedulePoll();
      return () => {
        subscribers.delete(subscriber);
        schedulePoll();
      };
    },
    close() {
      subscribers.clear();
      schedulePoll();
    },
  };
}

/** Changes of the SQLite file, seen by polling its data version. */
import type { ChangeFeed } from "../core/change-feed.ts";
import type { Store } from "./database.ts";

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

/** The change feed of an open store. It polls only while there are subscribers, at the shortest of their intervals. */
export function sqliteChangeFeed(store: Pick<Store, "dataVersion" | "directory">): ChangeFeed {
  const pollMs = store.directory.local ? LOCAL_POLL_MS : NETWORK_POLL_MS;
  const subscribers = new Set<Subscriber>();
  let timer: NodeJS.Timeout | undefined;
  let timerMs = Infinity;

  function dataVersion(): number | undefined {
    try {
      return store.dataVersion();
    } catch {
      // The next poll reads it again.
      return undefined;
    }
  }

  function poll(): void {
    const now = performance.now();
    // Timers are not exact: a subscriber that would be due before the next poll is due now.
    const due = [...subscribers].filter(
      ({ intervalMs, dueAt }) => intervalMs <= timerMs || dueAt <= now + timerMs / 2,
    );
    const version = due.length === 0 ? undefined : dataVersion();
    if (version === undefined) return;
    for (const subscriber of due) {
      subscriber.dueAt = now + subscriber.intervalMs;
      if (subscriber.version === version) continue;
      subscriber.version = version;
      // The listener of another subscriber may have ended this subscription.
      if (subscribers.has(subscriber)) subscriber.listener();
    }
  }

  function adjustTimer(): void {
    const intervalMs = Math.min(...[...subscribers].map((subscriber) => subscriber.intervalMs));
    if (intervalMs === timerMs) return;
    clearInterval(timer);
    timerMs = intervalMs;
    timer = subscribers.size === 0 ? undefined : setInterval(poll, intervalMs).unref();
  }

  return {
    subscribe(listener, maxDelayMs = 0) {
      const intervalMs = Math.max(pollMs, maxDelayMs);
      const subscriber: Subscriber = {
        listener,
        intervalMs,
        version: dataVersion(),
        dueAt: performance.now() + intervalMs,
      };
      subscribers.add(subscriber);
      adjustTimer();
      return () => {
        subscribers.delete(subscriber);
        adjustTimer();
      };
    },
    close() {
      subscribers.clear();
      adjustTimer();
    },
  };
}

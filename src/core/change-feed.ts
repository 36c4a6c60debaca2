/** Notifies a process of commits, its own and those of other processes. */

/** What a commit can leave for executors to do. */
export type WorkKind = "jobs" | "deliveries";

interface SubscribeOptions {
  /** Maximum delay of the call, in milliseconds; left out, the feed calls as soon as it can. */
  maxDelayMs?: number | undefined;
  /** What the listener looks for. A feed that knows which commits left none may call some 100 ms after those. */
  work?: WorkKind;
}

/** Calls its subscribers after commits to the store. There is one per process. */
export interface ChangeFeed {
  /**
   * Calls `listener` once after each commit, by this process or another, or once for several commits together.
   * @returns a function that ends the subscription
   */
  subscribe(listener: () => void, options?: SubscribeOptions): () => void;
  /** Ends all subscriptions. */
  close(): void;
}

/** Minimum time between a failed check and the next one, in milliseconds. */
const RETRY_MS = 100;

/** A check that runs after changes. */
export interface ChangeCheck {
  /** Runs the check now, or once more when it is running. */
  run(): void;
  stop(): void;
}

/**
 * Runs `check` after every change: one run at a time, again after a change that came meanwhile, and again after a failure.
 * @param onFailure called with the error of a failed run, once for several failures in a row
 * @param maxDelayMs see `SubscribeOptions`
 */
export function checkOnChange(
  feed: Pick<ChangeFeed, "subscribe">,
  check: () => Promise<void>,
  onFailure: (error: unknown) => void = () => {},
  maxDelayMs?: number,
): ChangeCheck {
  let running = false;
  let requested = false;
  let stopped = false;
  let failing = false;
  let retry: NodeJS.Timeout | undefined;

  async function runCheck(): Promise<void> {
    running = true;
    requested = false;
    try {
      await check();
      failing = false;
    } catch (error) {
      // A check that was stopped may meet a closed store.
      if (!stopped) {
        if (!failing) onFailure(error);
        failing = true;
        clearTimeout(retry);
        retry = setTimeout(run, Math.max(RETRY_MS, maxDelayMs ?? 0)).unref();
      }
    }
    running = false;
    if (requested) run();
  }

  function run(): void {
    requested = true;
    if (!running && !stopped) void runCheck();
  }

  const unsubscribe = feed.subscribe(run, { maxDelayMs });
  return {
    run,
    stop() {
      stopped = true;
      clearTimeout(retry);
      unsubscribe();
    },
  };
}

/** Learning of changes that other processes have committed. */

/** Calls its subscribers after commits to the store. There is one per process. */
export interface ChangeFeed {
  /**
   * Calls `listener` once after each commit, by this process or another, or once for several commits together.
   * @param maxDelayMs how late the call may come, in milliseconds; left out, as soon as the feed can tell
   * @returns a function that ends the subscription
   */
  subscribe(listener: () => void, maxDelayMs?: number): () => void;
  /** Ends all subscriptions. */
  close(): void;
}

/** How long after a failed check the next one begins, in milliseconds. */
const RETRY_MS = 100;

/** A check that runs after changes. */
export interface ChangeCheck {
  /** Runs the check now, or once more when it is running. */
  run(): void;
  stop(): void;
}

/**
 * Runs `check` after every change: one run at a time, again after a change that came meanwhile, and again after a failure.
 * @param onFailure called with what a run has thrown
 * @param maxDelayMs see `ChangeFeed.subscribe`
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
  let retry: NodeJS.Timeout | undefined;

  async function runCheck(): Promise<void> {
    running = true;
    requested = false;
    try {
      await check();
    } catch (error) {
      onFailure(error);
      clearTimeout(retry);
      if (!stopped) retry = setTimeout(run, RETRY_MS).unref();
    }
    running = false;
    if (requested) run();
  }

  function run(): void {
    requested = true;
    if (!running && !stopped) void runCheck();
  }

  const unsubscribe = feed.subscribe(run, maxDelayMs);
  return {
    run,
    stop() {
      stopped = true;
      clearTimeout(retry);
      unsubscribe();
    },
  };
}

/** Watches whether the state can be used, so that `/health` has an answer at once. */

/** Interval of the checks, in milliseconds. */
const INTERVAL_MS = 1_000;
/** How long an answer waits for a check, in milliseconds; then it is the result of the one before. */
const ANSWER_MS = 50;
/**
 * Number of intervals after which a check without a result is a failure: a network file system may hang. Intervals are counted
 * instead of time, because none passes while the process itself gets no processor time, or is stopped.
 */
const MAX_MISSED = 3;

export interface StorageMonitor {
  /** Returns why the state can't be used, or undefined, within 50 ms. */
  issue(): Promise<string | undefined>;
  close(): void;
}

/** @param check returns why the state can't be used, or undefined; it may take any time */
export function storageMonitor(check: () => Promise<string | undefined>): StorageMonitor {
  let latest: string | undefined;
  let running: Promise<void> | undefined;
  let missed = 0;

  async function runCheck(): Promise<void> {
    latest = await check().catch((error: unknown) => (error as Error).message);
    running = undefined;
    missed = 0;
  }
  const refresh = (): Promise<void> => (running ??= runCheck());
  const timer = setInterval(() => {
    if (running !== undefined) missed += 1;
    void refresh();
  }, INTERVAL_MS).unref();

  return {
    async issue() {
      let patience: NodeJS.Timeout | undefined;
      await Promise.race([
        refresh(),
        new Promise<void>((resolve) => {
          patience = setTimeout(resolve, ANSWER_MS).unref();
        }),
      ]);
      clearTimeout(patience);
      return missed >= MAX_MISSED ? "The state does not answer in time." : latest;
    },
    close: () => clearInterval(timer),
  };
}

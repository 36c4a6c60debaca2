/** Waits for runs to change, in this process or another. */
import { type ChangeCheck, type ChangeFeed, checkOnChange } from "../../core/change-feed.ts";
import type { EngineApi } from "../../core/engine-port.ts";
import type { RunReader, RunSummary } from "../../core/run-ports.ts";

export interface RunWatcher {
  waitForChange: EngineApi["waitForChange"];
  /** Reports that these runs may have changed. */
  notify(runIds: readonly string[]): void;
  /** Resolves all waits. */
  close(): void;
}

interface Waiter {
  runId: string;
  /** Whether the run has changed in the way that is waited for. */
  isReached(run: RunSummary): boolean;
  resolve(run?: RunSummary): void;
}

/** It subscribes to the change feed only while there are waiters. */
export function runWatcher(
  runs: Pick<RunReader, "getStatusSummaries">,
  changes: Pick<ChangeFeed, "subscribe">,
): RunWatcher {
  const waiters = new Set<Waiter>();
  let check: ChangeCheck | undefined;
  let nextCheck: NodeJS.Immediate | undefined;

  /** If it fails, the waiters keep waiting until their time is up: the next check may succeed. */
  async function resolveChanged(): Promise<void> {
    // A wait that begins meanwhile is not decided by this read.
    const current = [...waiters];
    const summaries = await runs.getStatusSummaries([...new Set(current.map(({ runId }) => runId))]);
    const byId = new Map(summaries.map((run) => [run.id, run]));
    for (const waiter of current) {
      const run = byId.get(waiter.runId);
      if (run === undefined || waiter.isReached(run)) waiter.resolve(run);
    }
  }

  /** Reads once for all waits that begin in this turn of the event loop. */
  function checkSoon(): void {
    nextCheck ??= setImmediate(() => {
      nextCheck = undefined;
      check?.run();
    });
  }

  function remove(waiter: Waiter): void {
    waiters.delete(waiter);
    if (waiters.size > 0) return;
    check?.stop();
    check = undefined;
  }

  return {
    async waitForChange(runId, seq, { ms, signal, until = () => true }) {
      if (signal.aborted) return undefined;
      const { promise, resolve } = Promise.withResolvers<RunSummary | undefined>();
      const waiter: Waiter = { runId, resolve, isReached: (run) => run.seq > seq && until(run) };
      waiters.add(waiter);
      check ??= checkOnChange(changes, resolveChanged);
      const stop = (): void => resolve(undefined);
      const timer = setTimeout(stop, ms);
      signal.addEventListener("abort", stop, { once: true });
      try {
        // The run may have changed before this wait began.
        checkSoon();
        return await promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
        remove(waiter);
      }
    },
    notify(runIds) {
      if ([...waiters].some(({ runId }) => runIds.includes(runId))) check?.run();
    },
    close() {
      for (const waiter of waiters) waiter.resolve();
    },
  };
}

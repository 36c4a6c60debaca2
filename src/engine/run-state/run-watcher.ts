/** Waits for runs to change, in this process or another. */
import { type ChangeCheck, type ChangeFeed, checkOnChange } from "../../core/change-feed.ts";
import type { EngineApi } from "../../core/engine-port.ts";
import type { RunReader } from "../../core/run-ports.ts";

export interface RunWatcher {
  waitForChange: EngineApi["waitForChange"];
  /** Reports that these runs may have changed. */
  notify(runIds: readonly string[]): void;
  /** Resolves all waits. */
  close(): void;
}

interface Waiter {
  runId: string;
  seq: number;
  resolve(): void;
}

/** It subscribes to the change feed only while there are waiters. */
export function runWatcher(
  runs: Pick<RunReader, "getStatusSummaries">,
  changes: Pick<ChangeFeed, "subscribe">,
): RunWatcher {
  const waiters = new Set<Waiter>();
  let check: ChangeCheck | undefined;

  /** If it fails, the waiters keep waiting until their time is up: the next check may succeed. */
  async function resolveChanged(): Promise<void> {
    const runIds = [...new Set([...waiters].map(({ runId }) => runId))];
    const summaries = await runs.getStatusSummaries(runIds);
    const seqs = new Map(summaries.map(({ id, seq }) => [id, seq]));
    for (const waiter of waiters) if ((seqs.get(waiter.runId) ?? Infinity) > waiter.seq) waiter.resolve();
  }

  function remove(waiter: Waiter): void {
    waiters.delete(waiter);
    if (waiters.size > 0) return;
    check?.stop();
    check = undefined;
  }

  return {
    async waitForChange(runId, seq, { ms, signal }) {
      if (signal.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiter: Waiter = { runId, seq, resolve };
      waiters.add(waiter);
      check ??= checkOnChange(changes, resolveChanged);
      const timer = setTimeout(resolve, ms).unref();
      signal.addEventListener("abort", waiter.resolve, { once: true });
      try {
        // The run may have changed before this wait began.
        check.run();
        await promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", waiter.resolve);
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

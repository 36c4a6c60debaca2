/** Waiting for a run to change, whichever process moves it: told by our own executors, seen in the store otherwise. */
import type { EngineApi } from "../../core/engine-port.ts";
import type { RunReader } from "../../core/run-ports.ts";

export interface RunWatcher {
  waitForChange: EngineApi["waitForChange"];
  /** Says that these runs may have changed. */
  notify(runIds: readonly string[]): void;
  close(): void;
}

interface Waiter {
  runId: string;
  seq: number;
  done(): void;
}

/**
 * @param dataVersion changes whenever another connection has committed
 * @param pollMs how soon a change that another process has made is seen
 */
export function runWatcher(
  runs: Pick<RunReader, "getStatusSummaries">,
  dataVersion: () => number,
  pollMs: number,
): RunWatcher {
  const waiters = new Set<Waiter>();
  let timer: NodeJS.Timeout | undefined;
  let version: number | undefined;
  let looking = false;
  let again = false;

  async function look(): Promise<void> {
    again = looking;
    if (looking) return;
    looking = true;
    try {
      const seqs = new Map(
        (await runs.getStatusSummaries([...new Set([...waiters].map((it) => it.runId))])).map((it) => [
          it.id,
          it.seq,
        ]),
      );
      for (const waiter of waiters) if ((seqs.get(waiter.runId) ?? Infinity) > waiter.seq) waiter.done();
    } catch {
      // Who waits goes on waiting, until its time is up: the next look may succeed.
      version = undefined;
    } finally {
      looking = false;
    }
    // Something changed while it looked: perhaps what it had read already.
    if (again) await look();
  }

  function poll(): void {
    const now = dataVersion();
    if (now === version) return;
    version = now;
    void look();
  }

  const close = (): void => {
    clearInterval(timer);
    timer = undefined;
    for (const waiter of waiters) waiter.done();
  };

  return {
    async waitForChange(runId, seq, { ms, signal }) {
      if (signal.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiter: Waiter = { runId, seq, done: resolve };
      waiters.add(waiter);
      timer ??= setInterval(poll, pollMs).unref();
      const limit = setTimeout(resolve, ms).unref();
      signal.addEventListener("abort", waiter.done, { once: true });
      try {
        // It may have changed before anybody listened.
        void look();
        await promise;
      } finally {
        clearTimeout(limit);
        signal.removeEventListener("abort", waiter.done);
        waiters.delete(waiter);
        if (waiters.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      }
    },
    notify(runIds) {
      if ([...waiters].some((it) => runIds.includes(it.runId))) void look();
    },
    close,
  };
}

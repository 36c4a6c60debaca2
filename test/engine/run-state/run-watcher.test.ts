import { setImmediate as nextImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { RunSummary } from "../../../src/core/run-ports.ts";
import { runWatcher } from "../../../src/engine/run-state/run-watcher.ts";

const summary = (id: string, seq: number, status: RunSummary["status"] = "running"): RunSummary => ({
  id,
  seq,
  status,
  stop: null,
});

/** A watcher of runs in memory, whose reads can be held up. */
function watched() {
  const runs = new Map<string, RunSummary>();
  const reads: string[][] = [];
  let gate: Promise<void> | undefined;
  const watcher = runWatcher(
    {
      async getStatusSummaries(ids) {
        reads.push([...ids]);
        const found = ids.flatMap((id) => runs.get(id) ?? []);
        await gate;
        return found;
      },
    },
    { subscribe: () => () => {} },
  );
  const { signal } = new AbortController();
  return {
    reads,
    set(run: RunSummary) {
      runs.set(run.id, run);
    },
    /** Lets reads wait until the returned function is called. */
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return () => {
        gate = undefined;
        resolve();
      };
    },
    notify: (id: string) => watcher.notify([id]),
    wait: (id: string, seq: number, until?: (run: RunSummary) => boolean) =>
      watcher.waitForChange(id, seq, { ms: 60_000, signal, until }),
  };
}

/** What has happened to a promise so far. */
async function stateOf(promise: Promise<unknown>): Promise<unknown> {
  for (let turn = 0; turn < 3; turn += 1) await nextImmediate();
  return Promise.race([promise, Promise.resolve("pending")]);
}

describe("a wait for a run", () => {
  it("is not ended by a read that began before it", async () => {
    const { set, hold, wait, notify } = watched();
    set(summary("run_1", 1));
    set(summary("run_2", 5));
    const first = wait("run_1", 1);
    const release = hold();
    await nextImmediate();
    await nextImmediate();
    const second = wait("run_2", 5);
    release();
    expect(await stateOf(second)).toBe("pending");
    set(summary("run_2", 6));
    notify("run_2");
    expect(await second).toEqual(summary("run_2", 6));
    expect(await stateOf(first)).toBe("pending");
  });

  it("ends at once when the run has changed before, or does not exist", async () => {
    const { set, wait } = watched();
    set(summary("run_1", 3));
    expect(await wait("run_1", 2)).toEqual(summary("run_1", 3));
    expect(await wait("run_2", 0)).toBeUndefined();
  });

  it("goes on until the run has changed as expected", async () => {
    const { set, wait, notify } = watched();
    set(summary("run_1", 1));
    const waiting = wait("run_1", 1, ({ status }) => status === "succeeded");
    await nextImmediate();
    set(summary("run_1", 2));
    notify("run_1");
    expect(await stateOf(waiting)).toBe("pending");
    set(summary("run_1", 3, "succeeded"));
    notify("run_1");
    expect(await waiting).toEqual(summary("run_1", 3, "succeeded"));
  });

  it("reads once for all waits that begin together", async () => {
    const { reads, set, wait, notify } = watched();
    const ids = Array.from({ length: 20 }, (_, index) => `run_${index}`);
    for (const id of ids) set(summary(id, 1));
    const all = ids.map((id) => wait(id, 1));
    expect(await stateOf(Promise.race(all))).toBe("pending");
    expect(reads).toEqual([ids]);
    for (const id of ids) set(summary(id, 2));
    notify(ids[0]!);
    await Promise.all(all);
    expect(reads).toEqual([ids, ids]);
  });
});

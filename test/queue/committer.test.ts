import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { EngineTransaction, EngineWriters } from "../../src/core/run-ports.ts";
import { committer } from "../../src/queue/committer.ts";
import { testQueues } from "../support/queue.ts";

/** A committer whose transactions are counted. */
async function countingCommitter() {
  const harness = await testQueues();
  const calls = { transactions: 0 };
  const transaction: EngineTransaction = (work) => {
    calls.transactions += 1;
    return harness.transaction(work);
  };
  const heartbeat = (id: string) => (tx: EngineWriters) =>
    tx.jobs.heartbeat(id, harness.now()).then(() => id);
  const executors = async (): Promise<string[]> =>
    (await harness.read.jobs.executors()).map(({ id }) => id).toSorted();
  return { ...committer(transaction), calls, heartbeat, executors };
}

describe("the committer", () => {
  it("commits concurrent changes in one transaction, and returns each its own value", async () => {
    const { commit, calls, heartbeat, executors } = await countingCommitter();
    expect(await Promise.all(["a", "b", "c"].map((id) => commit(heartbeat(id))))).toEqual(["a", "b", "c"]);
    expect(calls.transactions).toBe(1);
    expect(await executors()).toEqual(["a", "b", "c"]);
  });

  it("commits changes that arrive during a commit in the next transaction", async () => {
    const { commit, calls, heartbeat } = await countingCommitter();
    const inside = Promise.withResolvers<void>();
    const first = commit(async (tx) => {
      await inside.promise;
      return heartbeat("a")(tx);
    });
    await Promise.resolve();
    const others = [commit(heartbeat("b")), commit(heartbeat("c"))];
    inside.resolve();
    expect(await Promise.all([first, ...others])).toEqual(["a", "b", "c"]);
    expect(calls.transactions).toBe(2);
  });

  it("commits each large change alone, and the small ones that have come before the next large one", async () => {
    const { commit, calls, heartbeat } = await countingCommitter();
    const order: string[] = [];
    const late: Promise<number>[] = [];
    const change = (id: string, size?: number): Promise<number> =>
      commit((tx) => {
        if (id === "l1") late.push(...["c", "d"].map((name) => change(name)));
        return heartbeat(id)(tx);
      }, size).then((value) => order.push(value));
    const large = ["l1", "l2", "l3"].map((id) => change(id, 4 * 1024 * 1024));
    await Promise.all([...large, ...["a", "b"].map((id) => change(id))]);
    await Promise.all(late);
    expect(order).toEqual(["a", "b", "l1", "c", "d", "l2", "l3"]);
    expect(calls.transactions).toBe(5);
  });

  it("commits no large change for a while after a very large one, and small ones at once", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { commit, heartbeat } = await countingCommitter();
    const order: string[] = [];
    const change = (id: string, size: number, ms = 0): Promise<unknown> =>
      commit((tx) => {
        // What the transaction takes.
        vi.advanceTimersByTime(ms);
        return heartbeat(id)(tx);
      }, size).then((value) => order.push(value));
    const large = ["l1", "l2"].map((id) => change(id, 1024 * 1024, 100));
    await large[0];
    await change("a", 100);
    await vi.advanceTimersByTimeAsync(399);
    await change("b", 100);
    expect(order).toEqual(["l1", "a", "b"]);
    await vi.advanceTimersByTimeAsync(1);
    await large[1];
    expect(order).toEqual(["l1", "a", "b", "l2"]);
  });

  it("commits the other changes of a batch when one fails, and rejects only that one", async () => {
    const { commit, heartbeat, executors } = await countingCommitter();
    const fails = commit(async (tx) => {
      await heartbeat("half")(tx);
      throw new Error("no");
    });
    const results = await Promise.allSettled([commit(heartbeat("a")), fails, commit(heartbeat("b"))]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(results[1]).toMatchObject({ reason: { message: "no" } });
    expect(await executors()).toEqual(["a", "b"]);
  });
});

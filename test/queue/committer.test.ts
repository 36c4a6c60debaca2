import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
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

  it("commits changes of several callbacks of the same turn of the event loop in one transaction", async () => {
    const { commit, calls, heartbeat } = await countingCommitter();
    const ids = ["a", "b", "c"];
    // As the answers to requests do: each is a callback of its own, and reactions of promises run between them. Timers would
    // not do: they may be due in different turns.
    const answers = ids.map(
      (id) => new Promise<string>((resolve) => setImmediate(() => resolve(commit(heartbeat(id))))),
    );
    expect(await Promise.all(answers)).toEqual(ids);
    expect(calls.transactions).toBe(1);
  });

  it("commits changes that arrive during a commit in the next transaction", async () => {
    const { commit, calls, heartbeat } = await countingCommitter();
    const inside = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const first = commit(async (tx) => {
      begun.resolve();
      await inside.promise;
      return heartbeat("a")(tx);
    });
    await begun.promise;
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
      commit(
        (tx) => {
          if (id === "l1") late.push(...["c", "d"].map((name) => change(name)));
          return heartbeat(id)(tx);
        },
        { size },
      ).then((value) => order.push(value));
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
      commit(
        (tx) => {
          // What the transaction takes.
          vi.advanceTimersByTime(ms);
          return heartbeat(id)(tx);
        },
        { size },
      ).then((value) => order.push(value));
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

/** A committer without a store: the changes of each transaction are recorded, and `block` keeps the next one open. */
function recordingCommitter() {
  const transactions: string[][] = [];
  let current: string[] = [];
  let open = 0;
  let blocked: Promise<void> | undefined;
  const { commit } = committer(async (work) => {
    open += 1;
    expect(open).toBe(1);
    current = [];
    transactions.push(current);
    try {
      await blocked;
      return await work({} as EngineWriters);
    } finally {
      open -= 1;
    }
  });
  return {
    transactions,
    change: (name: string, size?: number): Promise<string> =>
      commit(
        async () => {
          current.push(name);
          return name;
        },
        { size },
      ),
    failing: (name: string): Promise<never> =>
      commit(async () => {
        current.push(name);
        throw new Error("no");
      }),
    /** @returns a function that lets the transactions continue */
    block(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      blocked = promise;
      return resolve;
    },
  };
}

describe("a transaction of the committer", () => {
  it("is the only one at a time, whenever changes come", async () => {
    const { transactions, change, block } = recordingCommitter();
    const resume = block();
    const first = change("a");
    await new Promise(setImmediate);
    const second = change("b");
    await new Promise(setImmediate);
    const third = change("c");
    await new Promise(setImmediate);
    expect(transactions).toHaveLength(1);
    resume();
    await Promise.all([first, second, third]);
    expect(transactions).toEqual([["a"], ["b", "c"]]);
  });

  it("holds 64 changes at most", async () => {
    const { transactions, change } = recordingCommitter();
    const names = Array.from({ length: 65 }, (_, index) => `${index}`);
    expect(await Promise.all(names.map((name) => change(name)))).toEqual(names);
    expect(transactions).toEqual([names.slice(0, 64), ["64"]]);
  });

  it("of one change is not repeated when it fails", async () => {
    const { transactions, failing } = recordingCommitter();
    await expect(failing("a")).rejects.toThrow("no");
    expect(transactions).toEqual([["a"]]);
  });

  it("of several changes is repeated one by one when one fails, and the next changes are committed", async () => {
    const { transactions, change, failing } = recordingCommitter();
    const results = await Promise.allSettled([change("a"), failing("b"), change("c")]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(transactions).toEqual([["a", "b"], ["a"], ["b"], ["c"]]);
    expect(await change("d")).toBe("d");
  });

  it("holds one change alone from 16 KiB on", async () => {
    const { transactions, change } = recordingCommitter();
    await Promise.all([
      change("large", 16 * 1024),
      change("small", 16 * 1024 - 1),
      change("smaller"),
      change("second large", 16 * 1024),
    ]);
    expect(transactions).toEqual([["small", "smaller"], ["large"], ["second large"]]);
  });
});

/** Commits a change of some size in 100 ms, and a large one after it. */
async function afterChangeOf(size: number): Promise<string[][]> {
  const transactions: string[][] = [];
  const { commit } = committer(async (work) => {
    transactions.push([]);
    return work({} as EngineWriters);
  });
  const change = (name: string, bytes: number, ms = 0): Promise<void> =>
    commit(
      async () => {
        transactions.at(-1)!.push(name);
        vi.advanceTimersByTime(ms);
      },
      { size: bytes },
    );
  const first = change("first", size, 100);
  void change("second", 16 * 1024);
  await first;
  await new Promise(setImmediate);
  return transactions;
}

describe("a pause of the committer", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
  afterEach(() => void vi.useRealTimers());

  it("follows a change of 256 KiB, and no smaller one", async () => {
    expect(await afterChangeOf(256 * 1024)).toEqual([["first"]]);
    expect(vi.getTimerCount()).toBe(1);
    vi.clearAllTimers();
    expect(await afterChangeOf(256 * 1024 - 1)).toEqual([["first"], ["second"]]);
  });

  it("sets no timer while nothing waits for its end", async () => {
    const { change } = recordingCommitter();
    await change("very large", 1024 * 1024);
    await change("small");
    await new Promise(setImmediate);
    expect(vi.getTimerCount()).toBe(0);
  });
});

/** Transactions that end when the test says so. @returns the names of the changes of those that run */
function manualCommitter(maxTransactions: number) {
  const running: { names: string[]; end: () => void }[] = [];
  const { commit, queueCount } = committer(async (work) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const transaction = { names: [] as string[], end: resolve };
    running.push(transaction);
    const result = await work({ names: transaction.names } as unknown as EngineWriters);
    await promise;
    running.splice(running.indexOf(transaction), 1);
    return result;
  }, maxTransactions);
  const change = (name: string, runId?: string): Promise<void> =>
    commit(
      async (tx) => void (tx as unknown as { names: string[] }).names.push(name),
      runId === undefined ? {} : { runId },
    );
  return {
    change,
    queueCount,
    running: () => running.map(({ names }) => names),
    end: () => running[0]!.end(),
  };
}

/** Two turns of the event loop: a commit begins in the next one, and a timer may end before that. */
async function turn(): Promise<void> {
  for (let count = 0; count < 2; count += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe("a committer of a database that runs several transactions at the same time", () => {
  it("commits the changes of each run beside those of others, those of one run together", async () => {
    const { change, running, end } = manualCommitter(4);
    const changes = [change("a1", "a"), change("a2", "a"), change("b1", "b")];
    await turn();
    expect(running()).toEqual([["a1", "a2"], ["b1"]]);
    changes.push(change("a3", "a"));
    await turn();
    expect(running()).toEqual([["a1", "a2"], ["b1"]]);
    end();
    await turn();
    expect(running()).toEqual([["b1"], ["a3"]]);
    end();
    end();
    await turn();
    end();
    await Promise.all(changes);
  });

  it("keeps nothing of runs whose changes are committed", async () => {
    const { change, queueCount, end } = manualCommitter(4);
    const changes = [change("a1", "a"), change("b1", "b")];
    await turn();
    expect(queueCount()).toBe(2);
    end();
    await turn();
    end();
    await Promise.all(changes);
    await turn();
    expect(queueCount()).toBe(0);
  });

  it("keeps one transaction free for changes that belong to no run", async () => {
    const { change, running, end } = manualCommitter(3);
    const changes = ["a", "b", "c"].map((id) => change(id, id));
    changes.push(change("heartbeat"));
    await turn();
    expect(running()).toHaveLength(3);
    expect(running()).toContainEqual(["heartbeat"]);
    expect(running()).not.toContainEqual(["c"]);
    for (let left = 4; left > 0; left -= 1) {
      end();
      await turn();
    }
    await Promise.all(changes);
  });
});

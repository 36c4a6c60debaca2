import { describe, expect, it } from "vitest";
import { concurrencyLimiter } from "../../src/auth/concurrency-limiter.ts";

/** Starts tasks that run until the test ends them, behind a limiter. */
function setUp(limit: number, maxWaiting: number) {
  const runLimited = concurrencyLimiter(limit, maxWaiting, () => new Error("full"));
  const started: number[] = [];
  const ends = new Map<number, PromiseWithResolvers<void>>();
  const begin = (id: number) => {
    const end = Promise.withResolvers<void>();
    ends.set(id, end);
    return runLimited(async () => {
      started.push(id);
      await end.promise;
      return id;
    });
  };
  return { begin, started, ends };
}

/** Resolves once every task that can start has started. */
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("a concurrency limiter", () => {
  it("runs 2 tasks, queues 2 in their order, and refuses the next", async () => {
    const { begin, started, ends } = setUp(2, 2);
    const work = [1, 2, 3, 4].map(begin);
    await expect(begin(5)).rejects.toThrow("full");
    await nextTurn();
    expect(started).toEqual([1, 2]);
    ends.get(2)!.resolve();
    expect(await work[1]).toBe(2);
    await nextTurn();
    expect(started).toEqual([1, 2, 3]);
    // The slot went to the next queued task, so a new task has to wait.
    work.push(begin(6));
    await nextTurn();
    expect(started).toEqual([1, 2, 3]);
    for (const end of ends.values()) end.resolve();
    expect(await Promise.all(work)).toEqual([1, 2, 3, 4, 6]);
    expect(started).toEqual([1, 2, 3, 4, 6]);
  });

  it("frees the slot of a task that failed", async () => {
    const { begin, started, ends } = setUp(1, 1);
    const failing = begin(1);
    const next = begin(2);
    ends.get(1)!.reject(new Error("broken"));
    await expect(failing).rejects.toThrow("broken");
    ends.get(2)!.resolve();
    expect(await next).toBe(2);
    const last = begin(3);
    ends.get(3)!.resolve();
    expect(await last).toBe(3);
    expect(started).toEqual([1, 2, 3]);
  });

  it("runs a task while fewer run than may, also where none may wait", async () => {
    const { begin, ends } = setUp(1, 0);
    const first = begin(1);
    await nextTurn();
    await expect(begin(2)).rejects.toThrow("full");
    ends.get(1)!.resolve();
    expect(await first).toBe(1);
  });
});

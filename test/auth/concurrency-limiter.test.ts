import { describe, expect, it } from "vitest";
import { concurrencyLimiter } from "../../src/auth/concurrency-limiter.ts";

/** Work that goes on until it is told to end, and how much of it goes on. */
function open(most: number, waiting: number) {
  const inTurn = concurrencyLimiter(most, waiting, () => new Error("full"));
  const started: number[] = [];
  const ends = new Map<number, PromiseWithResolvers<void>>();
  const begin = (id: number) => {
    const end = Promise.withResolvers<void>();
    ends.set(id, end);
    return inTurn(async () => {
      started.push(id);
      await end.promise;
      return id;
    });
  };
  return { begin, started, ends };
}

/** All that can go on has gone on. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("slots", () => {
  it("let so many work, so many wait in their order, and refuse the next", async () => {
    const { begin, started, ends } = open(2, 2);
    const work = [1, 2, 3, 4].map(begin);
    await expect(begin(5)).rejects.toThrow("full");
    await settled();
    expect(started).toEqual([1, 2]);
    ends.get(2)!.resolve();
    expect(await work[1]).toBe(2);
    await settled();
    expect(started).toEqual([1, 2, 3]);
    // The slot was handed on: it is not free for another one.
    work.push(begin(6));
    await settled();
    expect(started).toEqual([1, 2, 3]);
    for (const end of ends.values()) end.resolve();
    expect(await Promise.all(work)).toEqual([1, 2, 3, 4, 6]);
    expect(started).toEqual([1, 2, 3, 4, 6]);
  });

  it("are free again after work that failed", async () => {
    const { begin, started, ends } = open(1, 1);
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
});

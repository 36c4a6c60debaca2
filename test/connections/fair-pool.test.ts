import { array, assert, asyncProperty, boolean, integer, nat, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { createFairPool } from "../../src/connections/fair-pool.ts";
import { callOf } from "../support/call-context.ts";

/** A pool whose tasks end when the test says so. */
function controlled(size: number) {
  const pool = createFairPool(size);
  const started: string[] = [];
  const running = new Map<string, () => void>();
  const ask = (name: string, { owner = name[0]!, places = 1, signal = callOf().signal } = {}) =>
    pool.run(
      callOf(signal, owner),
      () => {
        started.push(name);
        return new Promise<void>((resolve) => running.set(name, resolve));
      },
      places,
    );
  return {
    ask,
    started,
    running,
    /** Ends a task, and waits until those that follow have started. */
    async end(name: string): Promise<void> {
      running.get(name)!();
      running.delete(name);
      await nextTurn();
    },
  };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a pool that owners share", () => {
  it("keeps a place for the next owner, however many tasks one owner has", async () => {
    const { ask, started, end } = controlled(4);
    for (let task = 0; task < 20; task += 1) void ask(`a${task}`);
    await nextTurn();
    expect(started).toEqual(["a0", "a1", "a2"]);
    void ask("b0");
    await nextTurn();
    expect(started.at(-1)).toBe("b0");
    await end("b0");
    expect(started.at(-1)).toBe("b0");
  });

  it("serves those who wait in turns, not by age", async () => {
    const { ask, started, running, end } = controlled(4);
    for (let task = 0; task < 20; task += 1) void ask(`a${task}`);
    for (let task = 0; task < 3; task += 1) void ask(`b${task}`);
    for (let task = 0; task < 3; task += 1) void ask(`c${task}`);
    await nextTurn();
    expect(started).toEqual(["a0", "a1", "a2", "b0"]);
    while (running.size > 0) await end([...running.keys()][0]!);
    expect(started).toHaveLength(26);
    // By age, all of a would come before b1.
    expect(started.slice(0, 13)).toEqual(expect.arrayContaining(["b2", "c2"]));
  });

  it("lets nobody overtake an owner who needs several places and has none", async () => {
    const { ask, started, end } = controlled(8);
    void ask("a0", { places: 4 });
    void ask("b0", { places: 2 });
    await nextTurn();
    void ask("c0", { places: 5 });
    for (let task = 1; task < 4; task += 1) void ask(`b${task}`);
    await nextTurn();
    expect(started).toEqual(["a0", "b0"]);
    await end("a0");
    expect(started[2]).toBe("c0");
  });

  it("forgets a task whose signal is aborted while it waits, with the signal's reason", async () => {
    const { ask, started, end } = controlled(1);
    const reason = new Error("the run was cancelled");
    const controller = new AbortController();
    void ask("a0");
    const waiting = ask("a1", { signal: controller.signal });
    void ask("b0");
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await end("a0");
    expect(started).toEqual(["a0", "b0"]);
  });

  it("gives the place back when a task fails", async () => {
    const pool = createFairPool(1);
    const failed = pool.run(callOf(), () => Promise.reject(new Error("a bug")));
    await expect(failed).rejects.toThrow("a bug");
    expect(await pool.run(callOf(), () => Promise.resolve(1))).toBe(1);
  });

  it("never exceeds its size, and serves every task that stays", async () => {
    const task = record({ owner: nat(3), places: integer({ min: 1, max: 4 }), aborts: boolean() });
    await assert(
      asyncProperty(integer({ min: 4, max: 9 }), array(task, { maxLength: 40 }), async (size, tasks) => {
        const pool = createFairPool(size);
        let used = 0;
        let served = 0;
        const failures = new Set<string>();
        const all = tasks.map(async ({ owner, places, aborts }) => {
          const controller = new AbortController();
          const run = async (): Promise<void> => {
            used += places;
            expect(used).toBeLessThanOrEqual(size);
            await nextTurn();
            used -= places;
            served += 1;
          };
          const done = pool.run(callOf(controller.signal, `${owner}`), run, places);
          if (aborts) setImmediate(() => controller.abort(new Error("aborted")));
          await done.catch((error: Error) => void failures.add(error.message));
        });
        await Promise.all(all);
        expect(used).toBe(0);
        expect([...failures].filter((message) => message !== "aborted")).toEqual([]);
        expect(served).toBeGreaterThanOrEqual(tasks.filter(({ aborts }) => !aborts).length);
      }),
      { numRuns: 50 },
    );
  });
});

import { setImmediate as nextPhase } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { nextTurnIfUsedUp } from "../../src/core/next-turn.ts";
import { testStore } from "../support/store.ts";

/** Counts the turns of the event loop. */
function countTurns(): () => number {
  let turns = 0;
  let isCounting = true;
  const count = (): void => {
    turns += 1;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
  onTestFinished(() => void (isCounting = false));
  return () => turns;
}

/** Makes each look at the clock take 4 ms, so that a query takes longer than that. */
function slowClock(): void {
  let now = performance.now();
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 4));
  onTestFinished(() => clock.mockRestore());
}

describe("a turn of the event loop", () => {
  it("ends after 10 ms of queries", async () => {
    await nextPhase();
    expect(nextTurnIfUsedUp(1_000)).toBeUndefined();
    expect(nextTurnIfUsedUp(1_009)).toBeUndefined();
    await nextTurnIfUsedUp(1_010);
    expect(nextTurnIfUsedUp(1_011)).toBeUndefined();
  });
});

describe("a loop of", () => {
  it("reads lets the event loop serve others, though SQLite answers at once", async () => {
    const { read } = await testStore();
    const turns = countTurns();
    slowClock();
    for (let reads = 0; reads < 30; reads += 1) await read.find("missing");
    expect(turns()).toBeGreaterThan(10);
  });

  it("transactions does too, but none of them pauses while it holds the lock", async () => {
    const { store } = await testStore();
    const turns = countTurns();
    slowClock();
    let within = 0;
    for (let writes = 0; writes < 30; writes += 1)
      await store.transaction(async (trx) => {
        const before = turns();
        for (let reads = 0; reads < 5; reads += 1) await trx.selectFrom("counters").selectAll().execute();
        within += turns() - before;
      });
    expect(turns()).toBeGreaterThan(10);
    expect(within).toBe(0);
  });
});

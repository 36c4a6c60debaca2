import { describe, expect, it } from "vitest";
import { DAY, HOUR, iso } from "../../src/core/clock.ts";
import { purgeBacktests } from "../../src/store/backtests.ts";
import { recountStoredBytes, storedBytes, storedBytesErrors } from "../../src/store/stored-bytes.ts";
import { newBacktest } from "../support/backtest-records.ts";
import { newRun } from "../support/run-records.ts";
import { type TestEngine, testEngine } from "../support/engine.ts";

const ANN = "ann@example.com";
const DRAFT = { steps: [{ id: "a", type: "set", values: { text: "d".repeat(20_000) } }] };
const GIVEN = { a: { text: "g".repeat(3_000) } };

async function open() {
  const engine = await testEngine();
  const workflowId = await engine.define({ steps: [{ id: "a", type: "set", values: { n: 1 } }] });
  const insert = (id: string, runs: number, fields: Parameters<typeof newBacktest>[1] = {}) =>
    engine.transaction((tx) =>
      tx.backtests.insert(
        newBacktest(id, { workflowId, createdAt: engine.now(), ...fields }),
        Array.from({ length: runs }, (_, index) => `run_${index}`),
      ),
    );
  const end = (id: string) =>
    engine.transaction((tx) =>
      tx.backtests.endRunning(id, {
        status: "finished",
        message: null,
        finishedAt: engine.now(),
        cancelledBy: null,
        summary: null,
      }),
    );
  return { engine, workflowId, insert, end };
}

/** Purges once. @returns whether there may be more */
const purge = ({ store, clock }: TestEngine, limit: number): Promise<boolean> =>
  store.transaction((trx) => purgeBacktests(trx, { before: iso(clock.now() - DAY), limit }));

describe("the bytes of a backtest", () => {
  it("count for its owner and its project until it is purged, the definition and the given outputs in full", async () => {
    const { engine, insert, end } = await open();
    const { store, clock } = engine;
    const db = store.read;
    const bytes = Buffer.byteLength(JSON.stringify(DRAFT)) + Buffer.byteLength(JSON.stringify(GIVEN));
    for (const id of ["bt_1", "bt_2"])
      await insert(id, 2, { definition: DRAFT, given: GIVEN, project: "sales" });
    await insert("bt_3", 1);
    expect(await storedBytes(db, ANN)).toBe(2 * bytes + "{}".length);
    expect(await storedBytes(db, "project:sales")).toBe(2 * bytes);
    expect(await storedBytesErrors(db)).toEqual([]);
    await store.transaction(recountStoredBytes);
    expect(await storedBytes(db, ANN)).toBe(2 * bytes + "{}".length);
    expect(await end("bt_1")).toBe(true);
    clock.advance(DAY + HOUR);
    expect(await purge(engine, 100)).toBe(false);
    expect(await storedBytes(db, ANN)).toBe(bytes + "{}".length);
    expect(await storedBytes(db, "project:sales")).toBe(bytes);
    expect(await storedBytesErrors(db)).toEqual([]);
  });

  it("share large values with its replays, and the last of them to be purged deletes these", async () => {
    const { engine, workflowId, insert, end } = await open();
    const { clock, rows, transaction } = engine;
    await insert("bt_1", 1, { definition: DRAFT });
    await transaction((tx) => tx.runs.insert(newRun("run_replay", { workflowId, definition: DRAFT })));
    expect(await rows("run_values")).toBe(1);
    expect(await end("bt_1")).toBe(true);
    clock.advance(DAY + HOUR);
    await purge(engine, 100);
    expect(await rows("run_values")).toBe(1);
    expect((await engine.find("run_replay")).definition).toEqual(DRAFT);
    await transaction((tx) => tx.runs.update("run_replay", { seq: 1, finishedAt: engine.now() }));
    clock.advance(DAY);
    await transaction((tx) => tx.runs.purge(engine.now(), engine.now(), 100));
    expect([await rows("run_values"), await rows("value_refs")]).toEqual([0, 0]);
  });
});

describe("purging backtests", () => {
  it("deletes those that ended before the time with their runs, a limited number at a time, and no others", async () => {
    const { engine, insert, end } = await open();
    const { clock, rows, read } = engine;
    for (const id of ["bt_1", "bt_2"]) {
      await insert(id, 25);
      expect(await end(id)).toBe(true);
    }
    clock.advance(DAY + HOUR);
    await insert("bt_young", 1);
    expect(await end("bt_young")).toBe(true);
    await insert("bt_running", 1, { createdAt: iso(clock.now() - 100 * DAY) });
    expect(await purge(engine, 10)).toBe(true);
    expect([await rows("backtests"), await rows("backtest_runs")]).toEqual([4, 42]);
    let others = 0;
    while (await purge(engine, 10)) others += 1;
    expect(others).toBe(3);
    expect([await rows("backtests"), await rows("backtest_runs")]).toEqual([2, 2]);
    for (const id of ["bt_young", "bt_running"]) expect(await read.backtests.find(id)).toBeDefined();
  });

  it("deletes a limited number of backtests at a time", async () => {
    const { engine, insert, end } = await open();
    for (let index = 0; index < 15; index += 1) {
      await insert(`bt_${index}`, 1);
      expect(await end(`bt_${index}`)).toBe(true);
    }
    engine.clock.advance(DAY + HOUR);
    expect(await purge(engine, 100)).toBe(true);
    expect(await engine.rows("backtests")).toBe(5);
    expect(await purge(engine, 100)).toBe(false);
    expect(await engine.rows("backtests")).toBe(0);
  });
});

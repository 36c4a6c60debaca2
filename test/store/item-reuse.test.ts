import { expect, it, vi } from "vitest";
import { GIVEN } from "../../src/core/model.ts";
import { ROWS_PER_QUERY } from "../../src/store/item-reuse.ts";
import { stepReader } from "../../src/store/step-reader.ts";
import { encodeState } from "../../src/store/step-state-columns.ts";
import { testStore } from "../support/store.ts";

/** Number of items of each fan-out. */
const ITEMS = 12_000;
const ROWS_PER_INSERT = 1_000;

const row = (stepId: string, item: number) => ({
  run_id: "run_1",
  step_id: stepId,
  item,
  seq: item,
  state: encodeState(item === 2 ? "skipped" : "succeeded"),
  attempts: item >= 11_000 || item === 2 ? 1 : 0,
  reused_from: item === 0 ? GIVEN : item > 2 && item < 11_000 ? "run_0" : null,
});

/** Stores the rows of items, from -1 (the step itself) up to `ITEMS`. */
async function storeItems(
  store: Awaited<ReturnType<typeof testStore>>["store"],
  stepId: string,
  rowOf = row,
) {
  for (let from = -1; from < ITEMS; from += ROWS_PER_INSERT) {
    const items = Array.from({ length: Math.min(ROWS_PER_INSERT, ITEMS - from) }, (_, index) => from + index);
    await store.transaction(async (trx) => {
      await trx
        .insertInto("run_steps")
        .values(items.map((item) => rowOf(stepId, item)))
        .execute();
    });
  }
}

it("itemReuse and executedItems count all items of a run, and read a bounded number of them at a time", async () => {
  const { store } = await testStore();
  for (const stepId of ["load", "send"]) await storeItems(store, stepId);
  const adapter = store.read.getExecutor().adapter as unknown as { executeDirect(query: unknown): unknown };
  const query = vi.spyOn(adapter, "executeDirect");
  const read = stepReader(store.read);
  const counts = { reused: 10_997, executed: 1_000 };
  expect(await read.itemReuse("run_1")).toEqual(
    new Map([
      ["load", counts],
      ["send", counts],
    ]),
  );
  // Each part takes a query for its end and one for its counts.
  expect(query.mock.calls.length).toBeGreaterThan((2 * 2 * ITEMS) / ROWS_PER_QUERY);
  query.mockClear();
  expect(await read.executedItems({ runId: "run_1", stepId: "send" }, 3)).toEqual([11_000, 11_001, 11_002]);
  // One for the last item, and two for those up to it.
  expect(query).toHaveBeenCalledTimes(3);
  expect(await read.executedItems({ runId: "run_1", stepId: "none" }, 3)).toEqual([]);
  expect(await read.itemReuse("run_2")).toEqual(new Map());
});

it("failedItems finds the items that failed, from one on, and reads a bounded number of items at a time", async () => {
  const { store } = await testStore();
  const failed = new Map([
    [-1, "failed"],
    [1, "failed"],
    [2, "failed_continued"],
    [11_500, "failed_continued"],
    [11_999, "failed"],
  ] as const);
  await storeItems(store, "send", (stepId, item) => ({
    ...row(stepId, item),
    state: encodeState(failed.get(item as -1) ?? "succeeded"),
  }));
  const adapter = store.read.getExecutor().adapter as unknown as { executeDirect(query: unknown): unknown };
  const query = vi.spyOn(adapter, "executeDirect");
  const read = stepReader(store.read);
  const find = async (from: number, limit: number, stepId = "send") =>
    (await read.failedItems({ runId: "run_1", stepId }, from, limit)).map(({ item, state }) => [item, state]);
  expect(await find(0, 3)).toEqual([
    [1, "failed"],
    [2, "failed_continued"],
    [11_500, "failed_continued"],
  ]);
  // One for the last item, and two for those up to it.
  expect(query).toHaveBeenCalledTimes(3);
  expect(await find(0, 1)).toEqual([[1, "failed"]]);
  expect(await find(3, 9)).toEqual([
    [11_500, "failed_continued"],
    [11_999, "failed"],
  ]);
  expect(await find(0, 9, "none")).toEqual([]);
});

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

it("itemReuse and executedItems count all items of a run, and read a bounded number of them at a time", async () => {
  const { store } = await testStore();
  for (const stepId of ["load", "send"])
    for (let from = -1; from < ITEMS; from += ROWS_PER_INSERT) {
      const items = Array.from(
        { length: Math.min(ROWS_PER_INSERT, ITEMS - from) },
        (_, index) => from + index,
      );
      await store.transaction(async (trx) => {
        await trx
          .insertInto("run_steps")
          .values(items.map((item) => row(stepId, item)))
          .execute();
      });
    }
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

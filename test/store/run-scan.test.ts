/** scan reads columns and values of many runs, in parts of a bounded size. */
import { expect, it } from "vitest";
import { iso, SECOND } from "../../src/core/clock.ts";
import type { ListPosition } from "../../src/core/model.ts";
import type { ScannedRun, ScannedValue } from "../../src/core/run-ports.ts";
import { exampleEnvironment } from "../support/example-environment.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";

/** Runs with inputs of these sizes, oldest first, and a reader of all their pages. */
async function runsWith(sizes: readonly number[]) {
  const here = await exampleEnvironment();
  await here.call(createWorkflow, {
    name: "Notes",
    definition: {
      inputs: { type: "object", properties: { note: { type: "string" } } },
      steps: [{ id: "size", type: "set", values: { n: "${{ size(inputs.note) }}" } }],
    },
  });
  const ids: string[] = [];
  for (const size of sizes) {
    here.clock.advance(SECOND);
    ids.push((await here.run("notes", { note: "x".repeat(size) })).id);
  }
  const { runs } = here.instance.read;
  const scan = async (values: readonly ScannedValue[], limit: number, maxChars: number) => {
    const pages: ScannedRun[][] = [];
    for (let after: ListPosition | null = null; ;) {
      const page: Awaited<ReturnType<typeof runs.scan>> = await runs.scan({
        filter: {},
        after,
        limit,
        values,
        maxChars,
      });
      pages.push(page.items);
      if (page.next === null) return pages;
      after = page.next;
    }
  };
  return { ids, scan, now: here.clock.now() };
}

it("scan returns the runs of a filter newest first, with the texts of their values and the state of steps", async () => {
  const { ids, scan, now } = await runsWith([1, 2_000, 3]);
  const values: ScannedValue[] = [
    { what: "inputs" },
    { what: "step_output", stepId: "size", item: null },
    { what: "step_output", stepId: "none", item: null },
    { what: "state" },
  ];
  const pages = await scan(values, 2, 1_500);
  expect(pages.map((page) => page.map(({ id }) => ids.indexOf(id)))).toEqual([[2, 1], [0]]);
  const state = "succeeded";
  expect(pages.flat()[0]).toMatchObject({ status: "succeeded", error: null, createdAt: iso(now) });
  expect(pages.flat().map((run) => run.values)).toEqual([
    [{ text: '{"note":"xxx"}', chars: 14 }, { text: '{"n":3}', chars: 7, state }, undefined, undefined],
    // Longer than what was asked for: its length without its text.
    [{ text: "", chars: 2_011 }, { text: '{"n":2000}', chars: 10, state }, undefined, undefined],
    [{ text: '{"note":"x"}', chars: 12 }, { text: '{"n":1}', chars: 7, state }, undefined, undefined],
  ]);
});

it("scan ends a page before its texts are longer than 4 Mi characters together, and leaves no run out", async () => {
  const large = 1_000_000;
  const { ids, scan } = await runsWith([large, 5, large, large, large, large, 6]);
  const pages = await scan([{ what: "inputs" }], 100, 2_000_000);
  expect(pages.map((page) => page.map(({ id }) => ids.indexOf(id)))).toEqual([[6, 5, 4, 3, 2, 1], [0]]);
  expect(pages.flat().every(({ values: [inputs] }) => inputs!.text.length === inputs!.chars)).toBe(true);
  expect(await scan([], 100, 0)).toHaveLength(1);
});

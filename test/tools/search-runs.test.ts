/** list_runs finds runs by words and by conditions. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { SECOND } from "../../src/core/clock.ts";
import { listRuns } from "../../tools/runs/list-runs.ts";
import { matchingRuns } from "../../tools/runs/matching-runs.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { exampleEnvironment } from "../support/example-environment.ts";

interface Listed {
  items: { id: string; values?: Record<string, unknown> }[];
  total: number;
  total_capped?: boolean;
  next_cursor: string | null;
}

/** Orders of a shop, of which one fails. */
async function orders() {
  const here = await exampleEnvironment();
  const { instance } = here;
  await here.call(createWorkflow, {
    id: "orders",
    name: "Bestellungen prüfen",
    definition: {
      inputs: { type: "object", properties: { invoice: { type: "string" }, amount: { type: "number" } } },
      steps: [{ id: "check", type: "assert", that: "inputs.amount > 0", message: "Betrag fehlt." }],
      output: { doubled: "${{ inputs.amount * 2 }}", note: 'of "${{ inputs.invoice }}"' },
    },
  });
  const ids: string[] = [];
  for (const [invoice, amount] of [
    ["INV-1", 10],
    ["INV-2", 20],
    ["Straße 3", -1],
    ["INV-22", 30],
  ] as const) {
    here.clock.advance(SECOND);
    ids.push((await here.run("orders", { invoice, amount })).id);
  }
  const list = (input: object) => here.call<Listed>(listRuns, input);
  const found = async (input: object) => (await list(input)).items.map(({ id }) => ids.indexOf(id));
  return { here, ids, instance, list, found };
}

it("list_runs finds the words of search in ids, names, errors, inputs and outputs, ignoring case", async () => {
  const { ids, found } = await orders();
  expect(await found({ search: "inv-2" })).toEqual([3, 1]);
  expect(await found({ search: ids[0] })).toEqual([0]);
  expect(await found({ search: "bestellungen PRÜFEN inv" })).toEqual([3, 1, 0]);
  expect(await found({ search: "STRASSE" })).toEqual([2]);
  expect(await found({ search: "betrag assert_failed" })).toEqual([2]);
  expect(await found({ search: '"INV-1"' })).toEqual([0]);
  expect(await found({ search: "60" })).toEqual([3]);
  expect(await found({ search: "zebra" })).toEqual([]);
  // Names of fields are not searched: every run has them.
  expect(await found({ search: "invoice" })).toEqual([]);
  expect(await found({ search: "of" })).toEqual([3, 1, 0]);
  expect(await found({ search: "inv", status: ["failed"] })).toEqual([]);
});

it("list_runs shows the runs for which a condition is true, with values and words beside it", async () => {
  const { list, found } = await orders();
  expect(await found({ where: "inputs.amount >= 20" })).toEqual([3, 1]);
  expect(await found({ where: "status = 'failed'", search: "betrag" })).toEqual([2]);
  expect(await list({ where: "output.doubled == 40", values: ["output.note"] })).toMatchObject({
    items: [{ values: { "output.note": 'of "INV-2"' } }],
    total: 1,
    next_cursor: null,
  });
  await expect(list({ where: "output.(" })).rejects.toMatchObject({
    code: "invalid_input",
    details: { errors: [{ path: "where", code: "expression_syntax" }] },
  });
  await expect(list({ search: "a b c d e f g h i" })).rejects.toMatchObject({ code: "invalid_input" });
});

it("list_runs pages through a search with the cursor of the same search only", async () => {
  const { list, ids } = await orders();
  const first = await list({ search: "inv", limit: 2 });
  expect(first).toMatchObject({ items: [{ id: ids[3] }, { id: ids[1] }], total: 2, total_capped: true });
  const cursor = first.next_cursor;
  expect(await list({ search: "inv", limit: 2, cursor })).toMatchObject({
    items: [{ id: ids[0] }],
    next_cursor: null,
  });
  await expect(list({ search: "in", limit: 2, cursor })).rejects.toMatchObject({ code: "invalid_cursor" });
});

it("matchingRuns finds each run once, however few runs a request reads", async () => {
  const { ids, instance } = await orders();
  const signal = new AbortController().signal;
  const { runs, workflows } = instance.read;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom("inv", "inv-2", "of"),
      async (limit, max, search) => {
        const found: string[] = [];
        for (let after: [string, string] | null = null; ;) {
          const page = await matchingRuns(
            { runs, signal },
            workflows,
            {},
            { search, where: undefined },
            { after, limit, max },
          );
          expect(page.ids.length).toBeLessThanOrEqual(limit);
          found.push(...page.ids);
          if (page.next === null) break;
          after = [...page.next] as [string, string];
        }
        const expected = { inv: [3, 1, 0], "inv-2": [3, 1], of: [3, 1, 0] }[search];
        expect(found.map((id) => ids.indexOf(id))).toEqual(expected);
      },
    ),
    { numRuns: 60, seed: 3 },
  );
});

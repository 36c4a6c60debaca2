/** list_runs shows values of each run, so that nobody has to read the runs one by one. */
import { expect, it } from "vitest";
import { SECOND } from "../../src/core/clock.ts";
import { listRuns } from "../../tools/runs/list-runs.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { exampleEnvironment } from "../support/example-environment.ts";

interface Listed {
  items: { id: string; values?: Record<string, unknown> }[];
  next_cursor: string | null;
}

const STEPS = [
  { id: "load", type: "set", values: { rows: "${{ range(inputs.count) }}", note: "${{ inputs.note }}" } },
  {
    id: "square",
    type: "set",
    for_each: "steps.load.rows",
    values: { n: "${{ item * item }}", exact: "12345678901234567890.10" },
  },
  { id: "check", type: "assert", that: "inputs.count < 5", message: "Too many." },
];

/** The issue of a path that can't be read. */
const issueOf = (index: number) => ({
  path: `values[${index}]`,
  code: "wrong_format",
  fix: expect.stringContaining("output.total") as string,
});

/** An environment with a workflow, and a function that runs it and one that lists its runs, oldest first. */
async function counting() {
  const here = await exampleEnvironment();
  await here.call(createWorkflow, {
    name: "Counts",
    definition: {
      inputs: {
        type: "object",
        properties: { count: { type: "integer" }, note: { type: "string", default: "" } },
      },
      steps: STEPS,
      output: { total: "${{ size(steps.load.rows) }}", "a name": 1, note: "${{ inputs.note }}" },
    },
  });
  const run = async (count: number, note = "") => {
    // Runs of one moment are listed in any order.
    here.clock.advance(SECOND);
    await here.run("counts", { count, note });
  };
  const list = async (values: unknown, more: object = {}) =>
    (await here.call<Listed>(listRuns, { values, ...more })).items.toReversed().map((item) => item.values);
  return { here, run, list };
}

it("list_runs shows the values that paths name, and leaves out those that a run doesn't have", async () => {
  const { run, list } = await counting();
  await run(2);
  await run(7);
  const paths = [
    "output.total",
    "inputs.count",
    "steps.load.rows[1]",
    "steps.square.items[1].n",
    "steps.square.items.6.output.n",
    "steps.square.items[0].exact",
    "steps.check",
    "steps.none.x",
  ];
  expect(await list(paths)).toEqual([
    {
      "output.total": 2,
      "inputs.count": 2,
      "steps.load.rows[1]": 1,
      "steps.square.items[1].n": 1,
      "steps.square.items[0].exact": "12345678901234567890.10",
      "steps.check": { ok: true },
    },
    {
      "inputs.count": 7,
      "steps.load.rows[1]": 1,
      "steps.square.items[1].n": 1,
      "steps.square.items.6.output.n": 36,
      "steps.square.items[0].exact": "12345678901234567890.10",
    },
  ]);
  expect(await list(["output"])).toEqual([{ output: { total: 2, "a name": 1, note: "" } }, {}]);
});

it("list_runs refuses paths that it can't read, all at once, with what to write", async () => {
  const { list } = await counting();
  await expect(list(["total", "output.total", "steps..x", "output["])).rejects.toMatchObject({
    details: { errors: [issueOf(0), issueOf(2), issueOf(3)] },
  });
});

it("list_runs shows large values by their beginning, with the reference to the whole", async () => {
  const { here, run, list } = await counting();
  await run(1, "x".repeat(300_000));
  await run(1, "y".repeat(3_000));
  const [huge, large] = await list(["output.note", "output.total", "inputs.note"]);
  const shown = {
    truncated: true,
    chars: expect.any(Number) as number,
    preview: expect.any(String) as string,
  };
  // The whole output is too large to look for a part of it.
  expect(huge).toEqual({
    "output.note": { ...shown, ref: "output" },
    "output.total": { ...shown, ref: "output" },
    "inputs.note": { ...shown, ref: "inputs" },
  });
  expect(large).toEqual({
    "output.note": { truncated: true, chars: 3_002, preview: `"${"y".repeat(1_999)}`, ref: "output" },
    "output.total": 1,
    "inputs.note": { truncated: true, chars: 3_002, preview: `"${"y".repeat(1_999)}`, ref: "inputs" },
  });
  const bytes = JSON.stringify(await here.call(listRuns, { values: ["output", "inputs"] })).length;
  expect(bytes).toBeLessThan(20_000);
});

it("list_runs shows small values whole beside any number of large ones, and a preview of each large one", async () => {
  const { run, list } = await counting();
  await run(3, "small");
  await run(1, "z".repeat(10_000));
  // A character beyond the basic plane is two units of a string, and one character of a database.
  await run(1, "😀".repeat(100_000));
  for (let index = 0; index < 17; index += 1) await run(1, `${index}${"x".repeat(240_000)}`);
  const shown = await list(["output.note", "output.total", "inputs"]);
  expect(shown).toHaveLength(20);
  expect(shown[0]).toEqual({
    "output.note": "small",
    "output.total": 3,
    inputs: { count: 3, note: "small" },
  });
  expect(shown.at(-1)).toMatchObject({ "output.total": 1, inputs: { chars: 240_023 } });
  for (const values of shown.slice(1))
    for (const large of [values?.["output.note"], values?.["inputs"]])
      expect(large).toMatchObject({ truncated: true, preview: expect.stringMatching(/[xz\u{1F600}]{100}/u) });
});

it("list_runs reads output in a path as a field of a step's output where it has one, else as the whole output", async () => {
  const here = await exampleEnvironment();
  const values = { output: { n: 1, output: "inner" }, n: 2, other: 3 };
  await here.call(createWorkflow, {
    name: "Fields",
    definition: {
      steps: [
        { id: "own", type: "set", values },
        { id: "none", type: "set", values: { n: 4 } },
        { id: "each", type: "set", for_each: "[1, 2]", values },
        { id: "plain", type: "set", for_each: "[1, 2]", values: { n: "${{ item }}" } },
      ],
    },
  });
  await here.run("fields", {});
  const expected = {
    "steps.own": values,
    "steps.own.output": values.output,
    "steps.own.output.n": 1,
    "steps.own.output.output": "inner",
    "steps.own.output.other": 3,
    "steps.own.n": 2,
    "steps.none.output": { n: 4 },
    "steps.none.output.n": 4,
  };
  const items = {
    "steps.each.items[1]": values,
    "steps.each.items[1].output.n": 1,
    "steps.each.items.0.output.other": 3,
    "steps.plain.items[1].output": { n: 2 },
    "steps.plain.items.1.output.n": 2,
  };
  const list = async (paths: string[]) =>
    (await here.call<Listed>(listRuns, { values: paths })).items[0]!.values;
  expect(await list(Object.keys(expected))).toEqual(expected);
  expect(await list([...Object.keys(items), "steps.none.output.x", "steps.own.outputs"])).toEqual(items);
});

it("list_runs reads names with letters of any script, digits and hyphens in paths", async () => {
  const here = await exampleEnvironment();
  const row = { größe: 1, "2024": { "order-id": "x" }, 合計: [5, 6] };
  await here.call(createWorkflow, {
    name: "Names",
    definition: { steps: [{ id: "a", type: "set", values: { row } }] },
  });
  await here.run("names", {});
  const expected = {
    "steps.a.row.größe": 1,
    "steps.a.row.2024.order-id": "x",
    "steps.a.row.合計[1]": 6,
    "steps.a.row.合計.0": 5,
  };
  const listed = await here.call<Listed>(listRuns, { values: Object.keys(expected) });
  expect(listed.items[0]!.values).toEqual(expected);
});

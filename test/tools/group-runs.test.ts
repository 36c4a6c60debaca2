/** group_runs counts runs in groups, so that an agent finds the version or the day of a change without reading the runs. */
import { expect, it } from "vitest";
import type { RunGroups } from "../../schemas/run-groups.ts";
import { HOUR } from "../../src/core/clock.ts";
import { groupRuns } from "../../tools/runs/group-runs.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { exampleEnvironment } from "../support/example-environment.ts";

/** A workflow that converts a price; version 2 forgets the tax for the region south. */
const definition = (factor: string) => ({
  inputs: {
    type: "object",
    properties: { price: { type: "number" }, region: { type: "string" } },
    required: ["price", "region"],
  },
  steps: [
    { id: "check", type: "assert", that: "inputs.price > 0", message: "No price." },
    { id: "gross", type: "set", values: { total: `\${{ inputs.price * ${factor} }}` } },
  ],
  output: { total: "${{ steps.gross.total }}", exact: "12345678901234567890.5" },
});

/** Runs of three versions, an hour apart: 2, 3 (one of which fails) and 1. */
async function shop() {
  const here = await exampleEnvironment();
  await here.call(createWorkflow, { id: "gross", name: "Gross", definition: definition("2") });
  await here.call(publishWorkflow, { workflow_id: "gross" });
  const ids: string[] = [];
  const run = async (price: number, region: string) => {
    here.clock.advance(HOUR);
    ids.push((await here.run("gross", { price, region })).id);
  };
  const change = async (factor: string) => {
    await here.call(updateWorkflow, { workflow_id: "gross", definition: definition(factor) });
    await here.call(publishWorkflow, { workflow_id: "gross" });
  };
  await run(1, "north");
  await run(2, "south");
  await change('(inputs.region == "south" ? 1 : 2)');
  await run(1, "north");
  await run(2, "south");
  await run(-1, "south");
  await change("2.0");
  await run(4, "south");
  const group = (input: object) => here.call<RunGroups>(groupRuns, { workflow_id: "gross", ...input });
  return { here, ids, run, group };
}

it("group_runs shows which version a value came with, and which run was the first and the last one", async () => {
  const { ids, group } = await shop();
  const wrong = await group({
    where: "output.total != inputs.price * 2",
    group_by: ["version", "output.total"],
  });
  expect(wrong).toEqual({
    groups: [
      {
        by: { version: 2, "output.total": 2 },
        runs: 1,
        statuses: { succeeded: 1 },
        first: { run_id: ids[3], created_at: expect.any(String) as string },
        last: { run_id: ids[3], created_at: expect.any(String) as string },
        duration_ms: { median: 0, p95: 0 },
      },
    ],
    total: 1,
    runs: 1,
    read: 6,
    complete: true,
    without_value: [
      {
        expression: "output.total != inputs.price * 2",
        runs: 1,
        run_id: ids[4],
        message: expect.stringContaining("output") as string,
      },
    ],
  });
  const byVersion = await group({ group_by: ["version"] });
  expect(byVersion.groups).toMatchObject([
    {
      by: { version: 1 },
      runs: 2,
      statuses: { succeeded: 2 },
      first: { run_id: ids[0] },
      last: { run_id: ids[1] },
    },
    { by: { version: 2 }, runs: 3, statuses: { succeeded: 2, failed: 1 }, last: { run_id: ids[4] } },
    { by: { version: 3 }, runs: 1, first: { run_id: ids[5] }, last: { run_id: ids[5] } },
  ]);
});

it("group_runs shows exact numbers: minimum, maximum and sum with all digits", async () => {
  const { group } = await shop();
  const { groups } = await group({
    status: ["succeeded"],
    measures: ["output.exact", "output.total", "inputs.region"],
  });
  expect(groups[0]!.measures).toEqual({
    "output.exact": {
      runs: 5,
      min: "12345678901234567890.5",
      max: "12345678901234567890.5",
      sum: "61728394506172839452.5",
      mean: Number("12345678901234567890.5"),
    },
    "output.total": { runs: 5, min: 2, max: 8, sum: 18, mean: 3.6 },
  });
});

it("group_runs reads conditions of SQL and names of fields as the expressions that they stand for", async () => {
  const { group } = await shop();
  expect(await group({ where: "version = 2 and status <> 'failed'" })).toMatchObject({
    where: "run.version == 2 && run.status != 'failed'",
    runs: 2,
  });
  expect(await group({ where: "${{ run.version == 2 }}" })).toMatchObject({ runs: 3 });
});

it("group_runs reads steps with their status, errors, and runs without a value in a group of their own", async () => {
  const { ids, group } = await shop();
  expect(
    (await group({ group_by: ["error_code", "failed_step", "steps.check.status"] })).groups,
  ).toMatchObject([
    { by: { "steps.check.status": "succeeded" }, runs: 5 },
    { by: { error_code: "assert_failed", failed_step: "check", "steps.check.status": "failed" }, runs: 1 },
  ]);
  const { groups, without_value: without } = await group({ group_by: ["steps.gross.total", "inputs.none"] });
  expect(groups.map(({ by, runs }) => [by, runs])).toEqual([
    [{}, 1],
    [{ "steps.gross.total": 2 }, 3],
    [{ "steps.gross.total": 4 }, 1],
    [{ "steps.gross.total": 8 }, 1],
  ]);
  expect(without).toMatchObject([
    { expression: "inputs.none", runs: 6, message: expect.stringContaining("none") as string },
    { expression: "steps.gross.total", runs: 1, run_id: ids[4] },
  ]);
});

it("group_runs counts hours, days and months in the time zone of the caller", async () => {
  const { group } = await shop();
  const keys = async (by: string, timezone?: string) =>
    (await group({ group_by: [by], ...(timezone !== undefined && { timezone }) })).groups.map((one) => [
      one.by[by],
      one.runs,
    ]);
  // The runs were created from 09:00 to 14:00 UTC.
  expect(await keys("day")).toEqual([["2026-11-21", 6]]);
  expect(await keys("day", "Pacific/Auckland")).toEqual([
    ["2026-11-21", 2],
    ["2026-11-22", 4],
  ]);
  expect(await keys("month", "Pacific/Auckland")).toEqual([["2026-11", 6]]);
  expect((await keys("hour", "Asia/Kolkata"))[0]).toEqual(["2026-11-21T14:00", 1]);
});

it("group_runs returns the groups with the most runs, and says how many runs are in the others", async () => {
  const { group } = await shop();
  expect(await group({ group_by: ["version"], max_groups: 1 })).toMatchObject({
    groups: [{ by: { version: 2 }, runs: 3 }],
    total: 3,
    runs: 6,
    next: expect.stringMatching(/^These are the 1 groups .* of 3: 3 runs are in the others/) as string,
  });
});

it("group_runs shows the beginning of a large value, and tells apart values that begin alike", async () => {
  const { group } = await shop();
  const { groups } = await group({
    where: "version == 1",
    group_by: [`"${"x".repeat(300)}" + inputs.region`],
  });
  expect(groups.map(({ by }) => Object.values(by)[0])).toEqual([
    { truncated: true, chars: 307, preview: expect.stringMatching(/^"xxx/) as string },
    { truncated: true, chars: 307, preview: expect.stringMatching(/^"xxx/) as string },
  ]);
});

it("group_runs reads values that are stored apart, and says which ones are too large to be read", async () => {
  const here = await exampleEnvironment();
  const steps = [{ id: "size", type: "set", values: { n: "${{ size(inputs.note) }}" } }];
  const inputs = { type: "object", properties: { note: { type: "string" } } };
  await here.call(createWorkflow, { name: "Notes", definition: { inputs, steps } });
  for (const length of [10, 3_000, 300_000]) await here.run("notes", { note: "x".repeat(length) });
  expect(await here.call(groupRuns, { group_by: ["size(inputs.note)"] })).toMatchObject({
    groups: [
      { by: {}, runs: 1 },
      { by: { "size(inputs.note)": 10 }, runs: 1 },
      { by: { "size(inputs.note)": 3_000 }, runs: 1 },
    ],
    without_value: [{ runs: 1, message: "inputs has 300011 characters of JSON; at most 262144 are read." }],
  });
});

it("group_runs reports all issues of its expressions at once, each with its place", async () => {
  const { group } = await shop();
  await expect(
    group({
      where: "output.(",
      group_by: ["versoin", "currency", "output.x +"],
      measures: ["nope"],
      timezone: "Mars",
    }),
  ).rejects.toMatchObject({
    code: "invalid_input",
    details: {
      errors: [
        { path: "where", code: "expression_syntax" },
        { path: "timezone", fix: expect.stringContaining("Europe/Berlin") as string },
        { path: "group_by[0]", did_you_mean: "version" },
        { path: "group_by[1]", fix: "Write a value as output.currency or inputs.currency." },
        { path: "group_by[2]", code: "expression_syntax" },
        { path: "measures[0]", code: "unknown_name" },
      ],
    },
  });
});

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

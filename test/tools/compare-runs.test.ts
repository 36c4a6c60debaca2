/** compare_runs says where two runs part: in their inputs, definitions, steps, items, outputs and errors. */
import { describe, expect, it } from "vitest";
import type { RunComparison } from "../../schemas/run-comparison.ts";
import { SECOND } from "../../src/core/clock.ts";
import type { AnyTool } from "../../src/core/tool.ts";
import { compareRuns } from "../../tools/runs/compare-runs.ts";
import { getRunValue } from "../../tools/runs/get-run-value.ts";
import { retryRun } from "../../tools/runs/retry-run.ts";
import { runStep } from "../../tools/runs/run-step.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { exampleEnvironment } from "../support/example-environment.ts";
import type { Json } from "../support/json.ts";

const set = (id: string, values: object, more: object = {}) => ({ id, type: "set", values, ...more });

const STEPS = [
  set("load", { rows: "${{ range(inputs.count) }}", note: "${{ inputs.note }}" }),
  set("square", { n: "${{ item * inputs.factor }}" }, { for_each: "steps.load.rows" }),
  { id: "check", type: "assert", that: "inputs.count < 5", message: "Too many: ${{ inputs.count }}" },
];
const DEFINITION = {
  inputs: {
    type: "object",
    properties: {
      count: { type: "integer", default: 2 },
      factor: { type: "integer", default: 3 },
      note: { type: "string", default: "" },
    },
  },
  steps: STEPS,
  output: { total: "${{ size(steps.load.rows) }}", note: "${{ steps.load.note }}" },
};

/** An environment with the workflow `counts`. */
async function open(definition: object = DEFINITION) {
  const here = await exampleEnvironment();
  await here.call(createWorkflow, { name: "Counts", definition });
  /** Starts a run a second after the one before, and lets it end. @returns its id */
  const run = async (inputs: Record<string, unknown> = {}): Promise<string> => {
    here.clock.advance(SECOND);
    return (await here.run("counts", inputs)).id;
  };
  const compare = (id: string, other?: string): Promise<RunComparison> =>
    here.call<RunComparison>(compareRuns, { run_id: id, ...(other !== undefined && { with: other }) });
  /** The id of the run of an answer that has ended. */
  const start = async (tool: AnyTool, input: object): Promise<string> => {
    here.clock.advance(SECOND);
    const { id } = await here.call<{ id: string }>(tool, input);
    await here.ended(id);
    return id;
  };
  return { here, run, compare, start };
}

const changed = (path: string, before: unknown, after: unknown): Json => ({ path, before, after });

describe("compare_runs", () => {
  it("finds nothing between two runs that did the same", async () => {
    const { run, compare } = await open();
    const [before, after] = [await run(), await run()];
    const comparison = await compare(after, before);
    expect(comparison).toMatchObject({
      before: { id: before, workflow_id: "counts", version: 1, status: "succeeded", duration_ms: 0 },
      after: { id: after },
      same: true,
      complete: true,
      notes: [],
      first_difference: null,
    });
    expect(Object.keys(comparison)).not.toEqual(expect.arrayContaining(["inputs"]));
    expect(comparison.steps.map(({ id, same }) => [id, same])).toEqual([
      ["load", true],
      ["square", true],
      ["check", true],
    ]);
    expect(comparison.steps[1]).toMatchObject({
      before: { status: "succeeded", items: { total: 2, done: 2, failed: 0 } },
      items: { compared: 2, differing: 0, first: [] },
    });
  });

  it("shows where inputs, outputs, items and errors differ, and where the runs first part", async () => {
    const { run, compare } = await open();
    const before = await run();
    const after = await run({ count: 5, factor: 3, note: "x" });
    const comparison = await compare(after, before);
    expect(comparison).toMatchObject({
      same: false,
      complete: true,
      first_difference: { field: "inputs", path: "count" },
      inputs: {
        total: 2,
        differences: [changed("count", 2, 5), changed("note", "", "x")],
        ref_before: "inputs",
        ref_after: "inputs",
      },
      output: { total: 1, differences: [{ path: "", before: { total: 2, note: "" } }], ref_before: "output" },
      error: { differences: [{ path: "", after: { code: "assert_failed", step_id: "check" } }] },
    });
    expect(comparison.output).not.toHaveProperty("ref_after");
    const [load, square, check] = comparison.steps;
    expect(load).toMatchObject({
      same: false,
      input: { total: 4 },
      output: {
        total: 4,
        differences: [
          { path: "rows[2]", after: 2 },
          { path: "rows[3]", after: 3 },
          { path: "rows[4]", after: 4 },
          changed("note", "", "x"),
        ],
        ref_before: "steps.load.output",
      },
    });
    expect(load!.input!.ref_after).toBe("steps.load.attempts.1.input");
    expect(square!.items).toMatchObject({
      compared: 5,
      differing: 3,
      first: [
        {
          item: 2,
          before: null,
          after: "succeeded",
          output: { differences: [{ path: "", after: { n: 6 } }] },
        },
        { item: 3 },
        { item: 4 },
      ],
    });
    expect(check).toMatchObject({
      same: false,
      before: { status: "succeeded" },
      after: { status: "failed" },
      error: { differences: [{ path: "", after: { code: "assert_failed" } }] },
    });
  });

  it("names the first step and item that differ where the inputs are equal", async () => {
    const { here, run, compare } = await open();
    const before = await run();
    const definition = {
      ...DEFINITION,
      steps: STEPS.with(
        1,
        set("square", { n: "${{ item == 1 ? 7 : item * 3 }}" }, { for_each: "steps.load.rows" }),
      ),
    };
    await here.call(updateWorkflow, { workflow_id: "counts", definition });
    const comparison = await compare(await run());
    expect(comparison).toMatchObject({
      before: { id: before, version: 1 },
      after: { version: 2 },
      first_difference: { step_id: "square", item: 1, field: "input", path: "values.n" },
    });
    expect(comparison.definition!.difference!.split("\n").filter((line) => /^[+-]/.test(line))).toEqual([
      `-      "n": "\${{ item * inputs.factor }}"`,
      `+      "n": "\${{ item == 1 ? 7 : item * 3 }}"`,
    ]);
  });

  it("lists the steps of either definition in order, and calls a changed definition the difference if nothing else is", async () => {
    const { here, run, compare } = await open();
    const before = await run();
    const steps = [{ ...STEPS[1], for_each: "[0, 1]" }, set("last", { a: 1 })];
    await here.call(updateWorkflow, {
      workflow_id: "counts",
      definition: { ...DEFINITION, steps, output: "x" },
    });
    const other = await compare(await run(), before);
    expect(other.steps.map((step) => [step.id, step.before?.status, step.after?.status])).toEqual([
      ["load", "succeeded", undefined],
      ["square", "succeeded", "succeeded"],
      ["check", "succeeded", undefined],
      ["last", undefined, "succeeded"],
    ]);
    expect(other.first_difference).toEqual({ step_id: "load", field: "definition" });
    await here.call(updateWorkflow, {
      workflow_id: "counts",
      definition: { ...DEFINITION, on_error: undefined, timeout: "1h" },
    });
    const described = await compare(await run(), before);
    expect(described).toMatchObject({ same: false, first_difference: { field: "definition" } });
    expect(described.steps.every(({ same }) => same)).toBe(true);
  });

  it("compares with the last run before it that succeeded and is no trial, unless `with` names one", async () => {
    const { here, run, compare, start } = await open();
    const first = await run();
    await run({ count: 9 });
    await start(runWorkflow, { workflow_id: "counts", given: {} });
    const subject = await run({ note: "b" });
    await run();
    expect((await compare(subject)).before.id).toBe(first);
    await expect(compare(first)).rejects.toMatchObject({
      code: "invalid_input",
      details: {
        errors: [
          { path: "with", code: "missing", message: "is missing: no earlier run of counts has succeeded" },
        ],
      },
    });
    const single = await start(runStep, { step: { type: "set", values: { x: 1 } } });
    await expect(compare(single)).rejects.toMatchObject({ details: { errors: [{ path: "with" }] } });
    expect(await compare(single, first)).toMatchObject({
      notes: ["They are runs of different workflows."],
      steps: [{ id: "load" }, { id: "square" }, { id: "check" }, { id: "set", before: null }],
    });
    await expect(compare(first, "run_none")).rejects.toMatchObject({
      code: "run_not_found",
      details: { errors: [{ path: "with" }] },
    });
    await expect(here.call(compareRuns, { run_id: "run_none" })).rejects.toMatchObject({
      code: "run_not_found",
    });
  });

  it("compares trials, retries and a run with itself", async () => {
    const { run, compare, start } = await open();
    const failed = await run({ count: 9 });
    const retry = await start(retryRun, { run_id: failed, patch: [{ op: "remove_step", id: "check" }] });
    expect(await compare(retry, failed)).toMatchObject({
      steps: [
        { id: "load", same: true, after: { reused_from: failed } },
        { id: "square", same: true },
        { id: "check", same: false, after: null },
      ],
    });
    const trial = await start(runWorkflow, {
      workflow_id: "counts",
      given: { load: { rows: [4], note: "given" } },
    });
    expect(await compare(trial, failed)).toMatchObject({
      after: { trial: true },
      steps: [{ id: "load", after: { given: true }, output: { total: 10 } }, {}, {}],
    });
    expect(await compare(failed, failed)).toMatchObject({
      same: true,
      notes: ["A run is compared with itself."],
    });
  });

  it("compares a run that has not ended as it is, and says so", async () => {
    const { here, run, compare } = await open({
      ...DEFINITION,
      steps: [...STEPS, { id: "pause", type: "wait", for: "1h" }],
    });
    const ended = await run();
    const { id } = await here.call<{ id: string }>(runWorkflow, { workflow_id: "counts" });
    await here.settle();
    expect(await compare(id, ended)).toMatchObject({
      same: false,
      notes: [`${id} has not ended (waiting): it is compared as it is now.`],
      after: { status: "waiting", duration_ms: null },
      first_difference: { step_id: "pause", field: "status" },
    });
  });

  it("shortens large values with their size and reference, and says how many differences are not shown", async () => {
    const { here, run, compare } = await open();
    const before = await run();
    const after = await run({ note: "x".repeat(1_000) });
    const { inputs } = await compare(after, before);
    expect(inputs!.differences).toEqual([
      {
        path: "note",
        before: "",
        after: { truncated: true, chars: 1_002, preview: `"${"x".repeat(299)}`, ref: "inputs" },
      },
    ]);
    const whole = await here.call<Json>(getRunValue, { run_id: after, ref: inputs!.ref_after });
    expect(JSON.parse(whole.text as string)).toMatchObject({ note: "x".repeat(1_000) });
    const many = await compare(await run({ count: 500 }), before);
    expect(many.steps[0]!.output).toMatchObject({
      total: 498,
      left_out: "478 more differences are not shown. get_run_value returns the whole values.",
    });
    expect(many.steps[0]!.output!.differences).toHaveLength(20);
  });

  it("compares values of more than a megabyte as texts, and the first items of long lists, and says so", async () => {
    const { run, compare } = await open();
    const note = "x".repeat(1_100_000);
    const [first, second] = [await run({ note }), await run({ note })];
    expect((await compare(second, first)).same).toBe(true);
    const third = await run({ note: `${note}y` });
    expect((await compare(third, first)).inputs).toMatchObject({
      total: 1,
      differences: [{ path: "", before: { truncated: true, chars: 1_100_032, ref: "inputs" } }],
      left_out: "Values with more than 1048576 characters of JSON are compared as texts, not by field.",
    });
    const [long, longer] = [await run({ count: 501 }), await run({ count: 501 })];
    expect(await compare(longer, long)).toMatchObject({
      same: false,
      complete: false,
      first_difference: null,
      notes: ["Only the first 500 of 501 items of square are compared."],
    });
  });

  it("compares numbers with all digits", async () => {
    const steps = [set("exact", { n: "${{ inputs.n }}" })];
    const { run, compare } = await open({
      inputs: { type: "object", properties: { n: {} } },
      steps,
      output: 1,
    });
    const before = await run({ n: "12345678901234567890.1" });
    expect((await compare(await run({ n: "12345678901234567890.10" }), before)).inputs).toBeUndefined();
    expect((await compare(await run({ n: "12345678901234567890.2" }), before)).inputs).toMatchObject({
      differences: [changed("n", "12345678901234567890.1", "12345678901234567890.2")],
    });
  });
});

import { describe, expect, it } from "vitest";
import type { ComparedStep, RunComparison } from "../../../schemas/run-comparison.ts";
import {
  describeSide,
  describeVerdict,
  differingParts,
  differingValues,
} from "../../../src/web/runs/comparison.ts";

const comparison = (fields: Partial<RunComparison>): RunComparison =>
  ({ same: false, complete: true, first_difference: null, ...fields }) as RunComparison;

const side = { status: "succeeded", attempts: 1, duration_ms: 12 } as const;
const step = (fields: Partial<ComparedStep> = {}): ComparedStep => ({
  id: "load",
  type: "set",
  same: false,
  before: side,
  after: side,
  ...fields,
});
const value = { total: 1, differences: [{ path: "n", before: 1, after: 2 }] };

describe("describeVerdict", () => {
  it.each<[Partial<RunComparison>, string]>([
    [{ same: true }, "Both runs did the same. Only times and durations may differ."],
    [{}, "No differences."],
    [{ complete: false }, "No difference was found in what was compared."],
    [
      { first_difference: { field: "inputs", path: "region" } },
      "First difference: the inputs (region) of the run.",
    ],
    [{ first_difference: { field: "definition" } }, "First difference: the definition of the run."],
    [
      { first_difference: { step_id: "load", field: "output", path: "rows[0]" } },
      "First difference: the output (rows[0]) of the step `load`.",
    ],
    [
      { first_difference: { step_id: "load", item: 3, field: "status" } },
      "First difference: the status of item 3 of the step `load`.",
    ],
    [
      { first_difference: { step_id: "load", field: "definition" } },
      "First difference: only one of the runs has the step `load`.",
    ],
  ])("says of %j: %s", (fields, sentence) => {
    expect(describeVerdict(comparison(fields))).toBe(sentence);
  });
});

describe("differingParts", () => {
  it("returns nothing for a step without values that differ", () => {
    expect(differingParts(step({ same: true }))).toEqual([]);
    expect(differingParts(step({ items: { compared: 3, differing: 0, first: [] } }))).toEqual([]);
  });

  it("returns a step's values in order, then each item that is shown", () => {
    const items = {
      compared: 1_200,
      differing: 2,
      first: [
        { item: 4, before: "succeeded", after: "succeeded", output: value },
        { item: 9, before: null, after: "failed" },
      ],
    } as const;
    expect(
      differingParts(step({ output: value, input: value, items: { ...items, first: [...items.first] } })),
    ).toEqual([
      {
        title: "load",
        notes: ["2 of the first 1,200 items differ."],
        values: [
          { title: "Input", value },
          { title: "Output", value },
        ],
      },
      { title: "load, item 4", notes: [], values: [{ title: "Output", value }] },
      { title: "load, item 9", notes: ["Before: no such item. After: failed."], values: [] },
    ]);
  });
});

describe("differingValues", () => {
  it("returns the fields that are asked for and differ", () => {
    expect(differingValues({ output: value, inputs: value }, ["inputs", "state"])).toEqual([
      { title: "Inputs", value },
    ]);
  });
});

describe("describeSide", () => {
  it("writes JSON, the beginning of a large value, and that nothing is there", () => {
    expect(describeSide({ before: null }, "before")).toBe("null");
    expect(describeSide({ before: null }, "after")).toBe("nothing");
    expect(describeSide({ after: "nothing" }, "after")).toBe('"nothing"');
    expect(describeSide({ after: { truncated: true } }, "after")).toBe('{"truncated":true}');
    const large = { truncated: true, chars: 1_002, preview: '"xx', ref: "inputs" };
    expect(describeSide({ after: large }, "after")).toBe('"xx… (1,002 characters)');
  });
});

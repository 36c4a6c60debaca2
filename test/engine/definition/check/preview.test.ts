import { describe, expect, it } from "vitest";
import { assert, set, defaultChecker } from "./test-checker.ts";

const inputs = {
  type: "object",
  properties: { n: { type: "number" }, since: { type: "string", default: "today" } },
  required: ["n"],
};
const definition = {
  inputs,
  steps: [
    set("a", { double: "${{ inputs.n * 2 }}", rows: [{ t: 1 }] }),
    set("each", { t: "${{ item.t + index }}" }, { for_each: "steps.a.rows" }),
    assert("gate", "steps.a.double > 3", {
      if: "steps.a.double > 100",
      message: "Since ${{ inputs.since }}",
    }),
    set("unknown", { x: "${{ steps.each.items.size() }}" }),
  ],
  output: { double: "${{ steps.a.double }}" },
};

describe("inputs passed to a check", () => {
  it("are validated, and filled in with defaults", async () => {
    expect(
      await defaultChecker.check(definition, { checkConnections: false, inputs: { n: 1 } }),
    ).toMatchObject({
      valid: true,
      inputs: { n: 1, since: "today" },
    });
    const { errors } = await defaultChecker.check(definition, {
      checkConnections: false,
      inputs: { n: "1", sinc: "x" },
    });
    expect(errors).toMatchObject([
      { path: "inputs.n", code: "wrong_type" },
      { path: "inputs.sinc", code: "unknown_key", did_you_mean: "since" },
    ]);
  });
});

describe("mocked outputs", () => {
  it("resolve the expressions that read them", async () => {
    const mocks = { a: { double: 8, rows: [{ t: 1 }, { t: 2 }] } };
    const { errors, preview } = await defaultChecker.check(definition, {
      checkConnections: false,
      inputs: { n: 4 },
      mocks,
    });
    expect(errors).toEqual([]);
    expect(preview).toEqual({
      steps: {
        a: { values: { double: 8, rows: [{ t: 1 }] } },
        each: { count: 2, items: [{ values: { t: 1 } }, { values: { t: 3 } }] },
        gate: { if: false },
        unknown: {},
      },
      output: { double: 8 },
    });
  });

  it("report where an expression fails", async () => {
    const mocks = { a: { double: 8, rows: [{ t: null }] } };
    const { errors } = await defaultChecker.check(definition, {
      checkConnections: false,
      inputs: { n: 4 },
      mocks,
    });
    expect(errors).toMatchObject([{ path: "steps[1].values", code: "null_value" }]);
  });

  it("must be objects and belong to existing steps", async () => {
    const { errors } = await defaultChecker.check(definition, {
      checkConnections: false,
      inputs: { n: 4 },
      mocks: { eahc: {}, a: 5 },
    });
    expect(errors).toMatchObject([
      { path: "mocks.eahc", code: "unknown_step", did_you_mean: "each" },
      { path: "mocks.a", code: "wrong_type" },
    ]);
  });

  it("require the inputs that the workflow requires", async () => {
    const { errors } = await defaultChecker.check(definition, { checkConnections: false, mocks: {} });
    expect(errors).toMatchObject([{ path: "inputs.n", code: "missing" }]);
  });

  it("can be those of a failed step", async () => {
    const steps = [
      set("a", { x: 1 }, { on_error: "continue" }),
      set("b", { why: "${{ steps.a.status + steps.a.error.code }}" }),
    ];
    const { preview } = await defaultChecker.check(
      { steps },
      { checkConnections: false, mocks: { a: { x: null, error: { code: "timeout" } } } },
    );
    expect(preview!.steps["b"]).toEqual({ values: { why: "failedtimeout" } });
  });
});

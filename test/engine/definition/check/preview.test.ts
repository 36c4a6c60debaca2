import { describe, expect, it } from "vitest";
import { assert, checkerOf, queryStep, set, defaultChecker } from "./test-checker.ts";

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

const query = queryStep(() => Promise.resolve({ issues: [] }));
/** Evaluates steps with a query that only a run can execute. */
const previewOf = async (steps: object[], mocks: object = {}, more: object = {}) => {
  const { preview, errors } = await checkerOf({}, query).check(
    { steps, ...more },
    { checkConnections: true, mocks: mocks as Record<string, unknown> },
  );
  return { preview: preview!, errors };
};
const rows = { id: "q", type: "query", query: "select 1" };
const NEEDS_Q = "needs the output of q: add it to mocks";

describe("a preview", () => {
  it("carries the values of steps that only compute forward", async () => {
    const steps = [
      set("a", { n: 2, list: [1, 2] }),
      set("b", { n: "${{ steps.a.n + 1 }}" }),
      set("each", { n: "${{ item * steps.b.n }}" }, { for_each: "steps.a.list" }),
      set(
        "loop",
        { n: "${{ loop.n }}" },
        { repeat: { max: 9, until: "result.n > 3", with: { n: { start: 1, next: "result.n * 2" } } } },
      ),
      assert("ok", "steps.each.items.map(i, i.n).sum() == 9"),
    ];
    const output = { each: "${{ steps.each.items.map(i, i.n) }}", last: "${{ steps.loop.last.n }}" };
    const { preview, errors } = await previewOf(steps, {}, { output });
    expect(errors).toEqual([]);
    expect(preview).toMatchObject({
      steps: {
        b: { values: { n: 3 } },
        each: { count: 2, items: [{ values: { n: 3 } }, { values: { n: 6 } }] },
        loop: { items: [{ until: false }, { until: false }, { values: { n: 4 }, until: true }] },
        ok: { that: true },
      },
      output: { each: [3, 6], last: 4 },
    });
    expect(preview).not.toHaveProperty("not_evaluated");
  });

  it("says of every value that it does not know what would have to be mocked", async () => {
    const steps = [
      rows,
      set("total", { n: "${{ steps.q.rows.map(r, r.n).sum() }}", known: 1 }),
      set("twice", { n: "${{ steps.total.n * 2 }}" }),
      set("each", { n: "${{ item.n }}", same: "x" }, { for_each: "steps.q.rows" }),
      set("some", { n: 1 }, { if: "steps.q.row_count > 0" }),
      set("after", { n: "${{ steps.some.n }}" }),
    ];
    const { preview, errors } = await previewOf(steps, {}, { output: "${{ steps.twice.n }}" });
    expect(errors).toEqual([]);
    expect(preview).toEqual({
      steps: {
        q: { query: "select 1" },
        total: { not_evaluated: { values: NEEDS_Q } },
        twice: { not_evaluated: { values: NEEDS_Q } },
        each: { not_evaluated: { values: "needs an item of for_each", for_each: NEEDS_Q } },
        some: { values: { n: 1 }, not_evaluated: { if: NEEDS_Q } },
        after: { not_evaluated: { values: NEEDS_Q } },
      },
      not_evaluated: { output: NEEDS_Q },
    });
    const mocked = await previewOf(steps, { q: { rows: [{ n: 3 }], row_count: 1 } });
    expect(JSON.stringify(mocked.preview)).not.toContain("not_evaluated");
  });

  it("takes one mock of a fan-out for all of its items", async () => {
    const steps = [
      set("a", { list: [1, 2] }),
      { ...rows, for_each: "steps.a.list" },
      set("n", { all: "${{ steps.q.items.map(i, i.row_count) }}", ok: "${{ steps.q.items[1].status }}" }),
    ];
    const { preview, errors } = await previewOf(steps, { q: { row_count: 7 } });
    expect(errors).toEqual([]);
    expect(preview.steps["n"]).toEqual({ values: { all: [7, 7], ok: "succeeded" } });
  });

  it("shows what a skipped step would do, and its value as the steps after it read it", async () => {
    const steps = [
      set("none", { list: [] }),
      set("first", { x: "${{ steps.none.list[0].id }}" }, { if: "steps.none.list.size() > 0" }),
      set("after", { x: "${{ steps.first.x ?? 'nothing' }}", how: "${{ steps.first.status }}" }),
    ];
    const { preview, errors } = await previewOf(steps);
    // The expression would fail, but the step does not run.
    expect(errors).toEqual([]);
    expect(preview.steps).toMatchObject({
      first: { if: false, not_evaluated: { values: expect.stringMatching(/^fails: /) } },
      after: { values: { x: "nothing", how: "skipped" } },
    });
  });

  it("shows the failure of an assertion, and what it keeps from running", async () => {
    const steps = [
      set("a", { n: 1 }),
      assert("gate", "steps.a.n > 1", { message: "Only ${{ steps.a.n }}" }),
      set("b", { ok: "${{ steps.gate.ok }}" }),
      assert("soft", "false", { on_error: "continue", message: "No" }),
      set("c", { why: "${{ steps.soft.error.message }}" }),
    ];
    const { preview } = await previewOf(steps);
    expect(preview.steps).toMatchObject({
      gate: { that: false, error: { code: "assert_failed", message: "Only 1" } },
      b: { not_evaluated: { values: "is not reached, because gate fails" } },
      soft: { error: { code: "assert_failed" } },
      c: { values: { why: "No" } },
    });
  });

  it("reads fields that a mock leaves out as a trial does, as null", async () => {
    const { preview, errors } = await previewOf([rows, set("a", { n: "${{ steps.q.row_count ?? 7 }}" })], {
      q: { rows: [] },
    });
    expect(errors).toEqual([]);
    expect(preview.steps["a"]).toEqual({ values: { n: 7 } });
  });

  it("shows the request of a lookup", async () => {
    const reading = { ...query, canLookUp: "any" as const };
    const writing = { ...query, type: "write", hasEffects: () => true };
    const lookup = { type: "query", query: "select", limit: "${{ size(idempotency_key) }}" };
    const given = { happened: "true", output: { rows: [], row_count: 0 } };
    const { preview, errors } = await checkerOf({}, reading, writing).check(
      { steps: [{ id: "a", type: "write", query: "insert", lookup: { ...lookup, ...given } }] },
      { checkConnections: false, inputs: {}, mocks: {} },
    );
    expect(errors).toEqual([]);
    expect(preview?.steps["a"]).toMatchObject({
      lookup: {
        query: "select",
        not_evaluated: { limit: expect.stringContaining("only a run has") as string },
      },
    });
  });

  it("shows what would undo a step", async () => {
    const undoable = { ...query, hasEffects: () => true };
    const steps = [{ ...rows, undo: { type: "query", query: "delete", limit: "${{ result.row_count }}" } }];
    const check = (mocks: Record<string, unknown>) =>
      checkerOf({}, undoable).check({ steps }, { checkConnections: true, mocks });
    expect((await check({})).preview!.steps["q"]).toMatchObject({
      undo: { query: "delete", not_evaluated: { limit: expect.stringContaining("add it to mocks") } },
    });
    expect((await check({ q: { row_count: 4 } })).preview!.steps["q"]).toMatchObject({
      undo: { query: "delete", limit: 4 },
    });
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
        gate: { if: false, that: true, message: "Since today" },
        unknown: { values: { x: 2 } },
      },
      output: { double: 8 },
    });
  });

  it("report where an expression fails", async () => {
    const mocks = { a: { double: 8, rows: [{}] } };
    const { errors } = await defaultChecker.check(definition, {
      checkConnections: false,
      inputs: { n: 4 },
      mocks,
    });
    expect(errors).toMatchObject([{ path: "steps[1].values", code: expect.stringMatching(/_/) }]);
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

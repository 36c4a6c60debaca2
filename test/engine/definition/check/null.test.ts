import { describe, expect, it } from "vitest";
import { stepTypes } from "../../../../src/steps/index.ts";
import { listOf, nullable, NUMBER, objectOf, STRING } from "../../../../src/core/shapes.ts";
import { assert, checkerOf, queryStep, set } from "./test-checker.ts";

const http = stepTypes.filter(({ type }) => type === "http");
const checker = checkerOf(
  {},
  ...http,
  queryStep(() =>
    Promise.resolve({
      issues: [],
      output: objectOf({ rows: listOf(objectOf({ n: NUMBER })), count: NUMBER }),
    }),
  ),
);

const inputs = {
  type: "object",
  properties: {
    n: { type: "number" },
    s: { type: "string" },
    list: { type: "array", items: { type: "number" } },
    m: { type: "number", default: 1 },
  },
};
const query = (id: string, more: object = {}) => ({ id, type: "query", query: "x", ...more });

/** Returns the issues and warnings of a definition, each as `path code`. */
async function findings(steps: unknown[], more: object = {}): Promise<string[]> {
  const { errors, warnings } = await checker.check({ inputs, steps, ...more }, { checkConnections: false });
  const places = (found: typeof errors) => found.map(({ path, code }) => `${path} ${code}`);
  return [...places(errors).map((place) => `error ${place}`), ...places(warnings)];
}
const withQuery = async (steps: unknown[], more: object = {}) => {
  const { errors, warnings } = await checker.check({ inputs, steps, ...more }, { checkConnections: true });
  return [...errors, ...warnings].map(({ path, code }) => `${path} ${code}`);
};

const use = (id: string) => set(id, { x: "${{ inputs.n + 1 }}" });

describe("null in the fields of a step", () => {
  it("is a warning where an optional input may be null", async () => {
    expect(
      await findings([
        set("a", {
          x: "${{ inputs.n + 1 }}",
          y: "${{ inputs.m + 1 }}",
          z: "${{ inputs.n }}",
          t: "n: ${{ inputs.n }}",
        }),
        set("b", { x: "${{ item }}" }, { for_each: "inputs.list" }),
        query("c", { limit: "${{ inputs.n }}", tables: { rows: "${{ inputs.list }}" } }),
      ]),
    ).toEqual([
      "steps[0].values.x maybe_null",
      "steps[1].for_each maybe_null",
      "steps[2].tables.rows maybe_null",
    ]);
  });

  it("is no warning after a guard of the step", async () => {
    expect(
      await findings([
        set("a", { x: "${{ inputs.n + 1 }}" }, { if: "inputs.n != null" }),
        set(
          "b",
          { x: "${{ item + inputs.n }}" },
          { if: "has(inputs.list) && inputs.n > 0 || false", for_each: "inputs.list" },
        ),
      ]),
    ).toEqual(["steps[1].if maybe_null"]);
  });

  it.each([
    ["on_error: continue", { on_error: "continue" }, "steps.q.error == null"],
    ["if", { if: "inputs.m > 1" }, "steps.q.status == 'succeeded'"],
  ])("is no warning where the step with %s has succeeded", async (_, more, condition) => {
    const guarded = set("a", { x: "${{ steps.q.count + 1 }}" }, { if: condition });
    const unguarded = set("b", { x: "${{ steps.q.count + 1 }}" });
    expect(await withQuery([query("q", more), guarded, unguarded])).toEqual(["steps[2].values.x maybe_null"]);
  });

  it("is no warning after an assert, unless that need not hold", async () => {
    expect(
      await findings([use("before"), assert("check", "inputs.n != null"), use("after")], {
        output: "${{ inputs.n + 1 }}",
      }),
    ).toEqual(["steps[0].values.x maybe_null"]);
    expect(
      await findings([assert("check", "inputs.n != null", { if: "inputs.m > 1" }), use("after")]),
    ).toHaveLength(1);
    expect(
      await findings([assert("check", "inputs.n != null", { on_error: "continue" }), use("after")]),
    ).toHaveLength(1);
    expect(
      await findings([assert("check", "inputs.n != null"), { ...use("beside"), needs: [] }], { output: 1 }),
    ).toHaveLength(1);
  });

  it("is an error where nothing else is possible, or what is not null does not fit", async () => {
    expect(await findings([query("a", { limit: "${{ inputs.s }}" })])).toEqual([
      "error steps[0].limit wrong_type",
    ]);
    expect(await findings([{ id: "a", type: "http", url: "${{ null }}" }])).toEqual([
      "error steps[0].url wrong_type",
    ]);
    expect(await findings([{ id: "a", type: "http", url: "${{ inputs.n }}" }])).toEqual([
      "error steps[0].url wrong_type",
    ]);
  });

  it("leaves out an optional field", async () => {
    expect(
      await findings([query("a", { limit: "${{ null }}" }), query("b", { limit: "${{ inputs.n }}" })]),
    ).toEqual([]);
  });

  it("is found in lists that an expression computes", async () => {
    const emails = "${{ ['a@example.com'].map(x, x == 'b' ? null : x) }}";
    expect(await findings([{ id: "a", type: "approval", message: "?", assignees: emails }])).toEqual([
      "steps[0].assignees maybe_null",
    ]);
    expect(await findings([{ id: "a", type: "approval", message: "?", assignees: "${{ [1] }}" }])).toEqual([
      "error steps[0].assignees wrong_type",
    ]);
  });
});

describe("the fields of an http step", () => {
  it("accept a number in a header", async () => {
    const headers = { "X-Page": "${{ inputs.m }}", "X-Size": 5, "X-Dry-Run": "${{ inputs.m > 1 }}" };
    expect(await findings([{ id: "a", type: "http", url: "https://example.com/", headers }])).toEqual([]);
  });
});

const url = (value: string) => findings([{ id: "a", type: "http", url: value }]);

describe("the url of an http step", () => {
  it("warns of delimiters that are encoded", async () => {
    expect(await url("https://example.com/${{ inputs.m > 1 ? 'a/b' : 'c' }}")).toEqual([
      "steps[0].url encoded",
    ]);
    expect(await url("https://example.com/${{ raw(inputs.m > 1 ? 'a/b' : 'c') }}")).toEqual([]);
    expect(await url("https://example.com/${{ inputs.s ?? '' }}")).toEqual([]);
  });
});

describe("a duration of zero", () => {
  it("is an issue where nothing can happen in no time", async () => {
    expect(
      await findings(
        [
          set("a", {}, { timeout: "0s", cache: "0ms" }),
          { id: "b", type: "wait", for: "0h0m" },
          set("c", {}, { cache: { for: "0s" } }),
        ],
        { timeout: "0d" },
      ),
    ).toEqual([
      "error steps[0].timeout too_small",
      "error steps[0].cache too_small",
      "error steps[2].cache.for too_small",
      "error timeout too_small",
      "steps[1].for too_small",
    ]);
  });
});

describe("the result of a step that may be skipped", () => {
  it("is nullable in the shape of the output", async () => {
    const report = await checker.check(
      {
        inputs,
        steps: [query("q", { if: "inputs.m > 1" })],
        output: { count: "${{ steps.q.count }}", safe: "${{ steps.q.count ?? 0 }}", s: "${{ inputs.s }}" },
      },
      { checkConnections: true },
    );
    expect(report.output_shape).toEqual(
      objectOf({ count: nullable(NUMBER), safe: NUMBER, s: nullable(STRING) }),
    );
  });
});

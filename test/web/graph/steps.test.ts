import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { RunStep } from "../../../schemas/run.ts";
import { graphOf } from "../../../src/engine/definition/graph.ts";
import { graphSteps } from "../../../src/web/graph/steps.ts";
import { failedLabel, stepLabel } from "../../../src/web/graph/step-label.ts";

interface Written {
  steps: { id: string; needs?: string[] }[];
}

const EXAMPLES = ["samples", "steps"].flatMap((folder) => {
  const path = fileURLToPath(new URL(`../../../examples/${folder}/`, import.meta.url));
  return readdirSync(path).map((file) => ({
    file,
    definition: parse(readFileSync(path + file, "utf8")) as Written,
  }));
});

const step = (id: string, needs?: string[]) => ({ id, type: "set", ...(needs && { needs }) });
const SHAPES: [string, Written][] = [
  ["a list", { steps: [step("a"), step("b"), step("c")] }],
  ["parallel steps", { steps: [step("a"), step("b", []), step("c", ["a", "b"]), step("d")] }],
  ["needs on later steps", { steps: [step("a", ["c"]), step("b"), step("c", [])] }],
  ["circular needs", { steps: [step("a", ["b"]), step("b", ["a", "b"])] }],
  ["unknown and duplicate needs", { steps: [step("a"), step("b", ["a", "gone", "a"])] }],
];

/** The engine's edges, by id. */
function engineNeeds({ steps }: Written): string[][] {
  return graphOf(steps).needs.map((positions) => positions.map((position) => steps[position]!.id));
}

const runStep = (id: string, given: Partial<RunStep> = {}): RunStep => ({
  id,
  type: "sql",
  status: "succeeded",
  attempts: 1,
  started_at: null,
  finished_at: null,
  error: null,
  ...given,
});

describe("graphSteps", () => {
  it.each(EXAMPLES)("draws the engine's edges of $file", ({ definition }) => {
    const drawn = graphSteps(definition as unknown as Record<string, unknown>);
    expect(drawn.map(({ id }) => id)).toEqual(definition.steps.map(({ id }) => id));
    expect(drawn.map(({ needs }) => needs)).toEqual(engineNeeds(definition));
  });

  it.each(SHAPES)("draws the engine's edges of %s", (_, definition) => {
    const drawn = graphSteps(definition as unknown as Record<string, unknown>);
    expect(drawn.map(({ needs }) => needs)).toEqual(engineNeeds(definition));
  });

  it("marks conditions and fan-outs, and adds the progress of a run", () => {
    const definition = {
      steps: [
        { id: "all", type: "sql" },
        { id: "each", type: "http", for_each: "steps.all.rows", if: "inputs.send" },
      ],
    };
    const items = { done: 17, total: 120, failed: 2 };
    const states = [runStep("each", { status: "running", attempts: 3, items }), runStep("elsewhere")];
    expect(graphSteps(definition, states)).toEqual([
      { id: "all", type: "sql", needs: [] },
      {
        id: "each",
        type: "http",
        needs: ["all"],
        condition: true,
        fanOut: true,
        status: "running",
        progress: items,
        attempts: 3,
      },
    ]);
  });

  it("marks repeated steps, and adds their iterations", () => {
    const definition = { steps: [{ id: "poll", type: "http", repeat: { max: 9 } }] };
    const [drawn] = graphSteps(definition);
    expect(drawn).toEqual({ id: "poll", type: "http", needs: [], repeats: true });
    const [paced] = graphSteps({
      steps: [{ id: "hold", type: "http", rate: "5/s", undo: { type: "http" }, lookup: { type: "http" } }],
    });
    expect(paced).toEqual({
      id: "hold",
      type: "http",
      needs: [],
      rate: "5/s",
      undoable: true,
      hasLookup: true,
    });
    expect(stepLabel(paced!)).toBe(
      "hold, http, starts at most 5/s, is undone if the run does not succeed, finds out whether its effect happened before it is sent again, needs no other step",
    );
    expect(stepLabel(drawn!)).toBe("poll, http, runs repeatedly, needs no other step");
    const items = { done: 2, total: 3, failed: 1, max: 9 };
    const [running] = graphSteps(definition, [runStep("poll", { status: "running", items })]);
    expect(running).toMatchObject({ repeats: true, progress: items });
    expect(running).not.toHaveProperty("fanOut");
    expect(stepLabel(running!)).toContain("2 iterations completed, at most 9, 1 failed");
  });

  it.each([[{}], [{ steps: null }], [{ steps: "sql" }], [{ steps: {} }], [{ steps: [null, 3, "x", ["y"]] }]])(
    "returns no steps for %j",
    (definition) => {
      expect(graphSteps(definition)).toEqual([]);
    },
  );

  it("skips the invalid parts of an unfinished definition", () => {
    const steps = [
      { id: "a" },
      null,
      { type: "sql" },
      { id: "a", type: 7, needs: "a", if: null },
      { id: " b ", needs: ["a", null, 4, {}, ""] },
    ];
    expect(graphSteps({ steps })).toEqual([
      { id: "a", type: "", needs: [] },
      { id: "#1", name: "(no id)", type: "sql", needs: ["a"] },
      { id: "#2", name: "a", type: "", needs: ["#1"] },
      { id: "b", type: "", needs: ["a"] },
    ]);
  });

  it("returns a run's steps without needs when its definition is missing", () => {
    expect(graphSteps(null, [runStep("a"), runStep("b", { status: "failed" })])).toEqual([
      { id: "a", type: "sql", needs: [], status: "succeeded", attempts: 1 },
      { id: "b", type: "sql", needs: [], status: "failed", attempts: 1 },
    ]);
    expect(graphSteps(null)).toEqual([]);
  });
});

describe("failedLabel", () => {
  it("says how many items failed, on the card and in the accessible name", () => {
    expect(failedLabel(undefined)).toBeNull();
    expect(failedLabel({ failed: 0 })).toBeNull();
    expect(failedLabel({ failed: 1_234 })).toBe("1,234 failed");
    const progress = { done: 200, total: 200, failed: 1 };
    expect(
      stepLabel({ id: "send", type: "http", needs: [], fanOut: true, status: "succeeded", progress }),
    ).toBe("send, http, succeeded, 200 of 200 items completed, 1 failed, needs no other step");
  });
});

describe("stepLabel", () => {
  it("names id, type, status and needs", () => {
    expect(stepLabel({ id: "revenue", type: "sql", needs: ["orders"], status: "succeeded" })).toBe(
      "revenue, sql, succeeded, needs: orders",
    );
    expect(stepLabel({ id: "first", type: "", needs: [] })).toBe("first, no type, needs no other step");
  });

  it("names the marks, and at most five needs", () => {
    const needs = Array.from({ length: 8 }, (_, index) => `s${index}`);
    const progress = { done: 17, total: 120, failed: 2 };
    expect(
      stepLabel({ id: "each", type: "http", needs, condition: true, fanOut: true, progress, attempts: 3 }),
    ).toBe(
      "each, http, conditional, 17 of 120 items completed, 2 failed, 3 attempts, needs: s0, s1, s2, s3, s4 and 3 more",
    );
  });
});

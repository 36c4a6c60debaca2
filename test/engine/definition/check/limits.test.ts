import { describe, expect, it, vi } from "vitest";
import { MAX_SHAPE_DEPTH, MAX_SHAPE_NODES, type Shape } from "../../../../src/core/shapes.ts";
import { MAX_ISSUES } from "../../../../src/engine/definition/check/check-report.ts";
import { type Report } from "../../../../src/engine/definition/check/index.ts";
import { exampleIssues } from "../../../../src/engine/definition/check/example-issues.ts";
import { orderSteps } from "../../../../src/engine/definition/check/step-order.ts";
import { startCpuTimer } from "../../../support/cpu-time.ts";
import { set, defaultChecker } from "./test-checker.ts";
import { MEASURES_COSTS, slowness } from "../../../support/expect-cost.ts";

/** Maximum number of measurements. Other programs only add time, through the caches and the cores that they share. */
const MAX_MEASUREMENTS = 4;

/**
 * Checks a definition.
 * @param limitMs where costs are measured: the longest turn of the event loop, in milliseconds of processor time
 * @returns the report, and the number of turns
 */
async function checked(source: unknown, limitMs = Infinity): Promise<{ report: Report; turns: number }> {
  const found: number[] = [];
  for (;;) {
    const { blocked, ...result } = await checkOnce(source);
    if (!MEASURES_COSTS) return result;
    found.push(blocked / slowness());
    if (found.at(-1)! >= limitMs && found.length < MAX_MEASUREMENTS) continue;
    expect(Math.min(...found), "longest turn").toBeLessThan(limitMs);
    return result;
  }
}

async function checkOnce(source: unknown): Promise<{ report: Report; turns: number; blocked: number }> {
  // The first check loads modules, which is not measured.
  await defaultChecker.check(
    { inputs: { type: "object" }, steps: [set("a", { a: 1 })] },
    { checkConnections: false },
  );
  const cpuTime = startCpuTimer();
  let [last, turns, blocked, stopped] = [0, 0, 0, false];
  const measure = (): void => {
    const now = cpuTime();
    blocked = Math.max(blocked, now - last);
    last = now;
    turns += 1;
    if (!stopped) setImmediate(measure);
  };
  setImmediate(measure);
  const report = await defaultChecker.check(source, { checkConnections: false });
  stopped = true;
  measure();
  return { report, turns, blocked };
}

const insideOf = (shape: Shape): Shape[] => {
  if (shape.kind === "list" || shape.kind === "map") return [shape.of];
  return shape.kind === "object" ? Object.values(shape.fields) : [];
};
const nodesOf = (shape: Shape): number => insideOf(shape).reduce((sum, inner) => sum + nodesOf(inner), 1);
const depthOf = (shape: Shape): number => 1 + Math.max(0, ...insideOf(shape).map(depthOf));

const chain = (length: number, values: (before: string) => unknown) =>
  Array.from({ length }, (_, index) => set(`s${index}`, index === 0 ? { a: 1 } : values(`s${index - 1}`)));

const wide = (kind: unknown) =>
  Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`field${index}`, kind]));

describe("the shapes of steps", () => {
  it("do not double from step to step", async () => {
    const steps = chain(60, (id) => ({ a: `\${{steps.${id}}}`, b: `\${{steps.${id}}}` }));
    const { report } = await checked({ steps }, 200);
    expect(report.valid).toBe(true);
    for (const { output } of report.steps) {
      expect(nodesOf(output)).toBeLessThan(2 * MAX_SHAPE_NODES);
      expect(depthOf(output)).toBeLessThanOrEqual(MAX_SHAPE_DEPTH + 2);
    }
    const wrong = [...steps, set("last", { x: "${{ steps.s59.a.c }}" })];
    expect((await checked({ steps: wrong })).report.errors).toMatchObject([{ code: "unknown_field" }]);
  });

  it("are compared within a limit", async () => {
    const either = Array.from({ length: 8_000 }, (_, index) => `\${{steps.${index % 2 ? "a" : "b"}.v}}`);
    const values = Array.from(
      { length: 20 },
      () => `\${{${Array(150).fill("values(steps.a.v)").join("+")}}}`,
    );
    const steps = [set("a", { v: wide(1) }), set("b", { v: wide("x") }), set("c", { either, values })];
    const { report } = await checked({ steps }, 400);
    expect(report.errors).toEqual([]);
    // Beyond the limit the shape is any.
    expect(report.steps[2]!.output).toMatchObject({ fields: { either: { of: { kind: "any" } } } });
  });
});

describe("a long definition", () => {
  it("yields to the event loop between its expressions", async () => {
    const many = Array.from({ length: 15_000 }, () => "${{steps.a.a+1}}");
    for (const source of [
      { steps: [set("a", { a: 1 })], output: many },
      { steps: [set("a", { a: 1 }), set("b", { many })] },
    ]) {
      const { report, turns } = await checked(source, 250);
      expect(report.valid).toBe(true);
      expect(turns).toBeGreaterThan(2);
    }
  });

  it("gets near matches for the first unknown names only", async () => {
    const fields = Object.fromEntries(
      Array.from({ length: 1_900 }, (_, index) => [`${"field".repeat(10)}${index}`, 1]),
    );
    const wrong = Array.from(
      { length: 5 },
      () =>
        `\${{${Array(120)
          .fill(`steps.a.v.${"field".repeat(10)}x`)
          .join("+")}}}`,
    );
    const { report } = await checked({ steps: [set("a", { v: fields }), set("b", { wrong })] }, 400);
    expect(report.errors).toHaveLength(MAX_ISSUES);
    expect(report.errors.filter((issue) => issue.did_you_mean !== undefined)).toHaveLength(10);
  });

  it("is checked up to the maximum number of issues in its examples", async () => {
    const allowed = Array.from({ length: 300 }, (_, index) => `${"qwertzuiop".repeat(19)}${index}`);
    const inputs = {
      type: "object",
      properties: { l: { type: "array", items: { enum: allowed } } },
    };
    const examples = Array.from({ length: 20 }, (_, example) => ({
      inputs: {
        l: Array.from({ length: 100 }, (_item, item) => `${"asdfghjklm".repeat(19)}${example}_${item}`),
      },
    }));
    const { report } = await checked({ inputs, examples, steps: [set("a", { a: 1 })] }, 400);
    expect(report.errors).toHaveLength(MAX_ISSUES);
    expect(report.errors.every(({ path }) => path.startsWith("examples[0]"))).toBe(true);
  });
});

describe("examples", () => {
  it("are not checked beyond the maximum number of issues, and yield to the event loop", async () => {
    let [parsed, yields] = [0, 0];
    const parse = () => {
      parsed += 1;
      return {
        issues: Array.from({ length: 60 }, () => ({ path: [], code: "invalid", message: "is wrong" })),
      };
    };
    const yieldToEventLoop = async (): Promise<void> => void (yields += 1);
    await exampleIssues(
      Array.from({ length: 20 }, () => ({ inputs: {} })),
      { parse },
      { steps: [], order: orderSteps([]), stepFields: new Map(), shapes: {}, reads: () => new Set() },
      yieldToEventLoop,
    );
    expect([parsed, yields]).toEqual([2, 2]);
  });
});

describe("previews", () => {
  it("evaluate no more than their work allows, whatever the clock says", async () => {
    // Each needs a part of the work of one expression, and together they need more than all.
    const heavy = "${{ range(1000).map(a, range(1500).map(b, a * b).sum()).sum() }}";
    const steps = Array.from({ length: 30 }, (_, index) => set(`s${index}`, { x: heavy }));
    const clock = vi.spyOn(performance, "now");
    let now = 0;
    clock.mockImplementation(() => (now += 60_000));
    try {
      const { preview, errors } = await defaultChecker.check(
        { steps },
        { checkConnections: false, mocks: {} },
      );
      const evaluated = Object.keys(preview!.steps).length;
      expect(evaluated).toBeGreaterThan(5);
      expect(evaluated).toBeLessThan(30);
      expect(errors).toMatchObject([
        { path: expect.stringMatching(/^steps\[\d+\]/), code: "expression_limit" },
      ]);
    } finally {
      clock.mockRestore();
    }
  });
});

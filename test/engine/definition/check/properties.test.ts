import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AppError } from "../../../../src/core/errors.ts";
import { StepError } from "../../../../src/core/step-errors.ts";
import { compileCel, compileValue } from "../../../../src/engine/definition/expressions/index.ts";
import type { Scope } from "../../../../src/engine/definition/expressions/types.ts";
import { ancestorsOf, graphOf } from "../../../../src/engine/definition/graph.ts";
import { defaultChecker } from "./test-checker.ts";

const IDS = ["a", "b", "c", "d", "e"];
const FIELDS = ["x", "y"];

const inputs = {
  type: "object",
  properties: {
    n: { type: "number" },
    s: { type: "string" },
    l: { type: "array", items: { type: "number" } },
  },
  required: ["n", "s", "l"],
};
const INPUTS = { n: 3, s: "text", l: [1, 2] };

const id = fc.constantFrom(...IDS);
/** Valid often enough that many definitions are accepted, and invalid often enough that others are not. */
const source = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(id, fc.constantFrom(...FIELDS)).map(([step, field]) => `steps.${step}.${field}`),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      "inputs.n",
      "inputs.s",
      "inputs.l",
      "inputs.n * 2",
      "inputs.l.size()",
      "run.id",
      "1 + 1",
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "inputs.m",
      "nothing",
      "item",
      "steps.z.x",
      "inputs.s * 2",
      "inputs.n.x",
      "1 +",
    ),
  },
);
const value = fc.oneof(
  fc.integer(),
  fc.constant("plain"),
  source.map((given) => `\${{ ${given} }}`),
  source.map((given) => `It is \${{ ${given} }}.`),
  fc.array(
    source.map((given) => `\${{ ${given} }}`),
    { maxLength: 2 },
  ),
);
const condition = fc.oneof(
  fc.boolean(),
  source.map((given) => `${given} == 1`),
  source,
);
const needs = fc.option(fc.uniqueArray(id, { maxLength: 2 }), { nil: undefined, freq: 1 });
const noise = fc.oneof(
  { weight: 12, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constant({ tiemout: "5s" }) },
  { weight: 1, arbitrary: fc.constant({ timeout: 5 }) },
);

const setStep = fc.record({
  type: fc.constant("set"),
  values: fc.record({ x: value, y: value }, { requiredKeys: [] }),
});
const assertStep = fc.record({ type: fc.constant("assert"), that: condition, message: value });
const step = fc
  .tuple(fc.oneof({ weight: 3, arbitrary: setStep }, { weight: 1, arbitrary: assertStep }), needs, noise)
  .map(([own, before, more]) => Object.assign({}, own, before && { needs: before }, more));
const definition = fc
  .tuple(fc.array(step, { minLength: 1, maxLength: 5 }), fc.constantFrom(...IDS, undefined))
  .map(([steps, twice]) => ({
    inputs,
    // Some definitions have an id twice.
    steps: steps.map((given, index) => ({
      id: index === 3 && twice !== undefined ? twice : IDS[index]!,
      ...given,
    })),
  }));

interface Step {
  id: string;
  type: string;
  needs?: string[];
  values?: Record<string, unknown>;
  that?: string | boolean;
  message?: unknown;
}

/** Runs a definition in the order of its needs, in the simplest way. */
function run(steps: readonly Step[]): Record<string, Record<string, unknown>> {
  const outputs: Record<string, Record<string, unknown>> = {};
  const graph = graphOf(steps);
  const left = new Set(steps.keys());
  while (left.size > 0) {
    const next = [...left].find((index) => graph.needs[index]!.every((given) => !left.has(given)));
    if (next === undefined) throw new Error("a cycle");
    left.delete(next);
    const before = [...ancestorsOf(graph, next)].map((index) => steps[index]!.id);
    const seen = Object.fromEntries(before.map((given) => [given, outputs[given]!]));
    const { id: name, values, that, message } = steps[next]!;
    const scope: Scope = { inputs: INPUTS, run: { id: "run_1" }, steps: seen };
    const own =
      values === undefined
        ? { ok: conditionOf(that!, scope) }
        : (compileValue(values).evaluate(scope) as object);
    if (message !== undefined && typeof compileValue(message).evaluate(scope) !== "string")
      throw new Error("the message is not a string");
    outputs[name] = { status: "succeeded", error: null, ...own };
  }
  return outputs;
}

function conditionOf(that: string | boolean, scope: Scope): boolean {
  const holds = compileCel(that).evaluate(scope);
  if (typeof holds !== "boolean" && holds !== null) throw new Error("the condition is not a boolean");
  return holds === true;
}

describe("the checker, for any input,", () => {
  it("accepts no definition that fails for a reason that is known before it runs", async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(definition, async (made) => {
        const { valid } = await defaultChecker.check(made, { checkConnections: false });
        if (!valid) return;
        accepted += 1;
        try {
          run(made.steps);
        } catch (error) {
          // Only a run knows that an optional input is null.
          if (error instanceof StepError && error.code === "null_value") return;
          throw error instanceof AppError
            ? new Error(`it does not compile: ${error.message}`, { cause: error })
            : error;
        }
      }),
      { numRuns: 600 },
    );
    expect(accepted).toBeGreaterThan(30);
  });

  it("reports paths that exist in the document, or whose parent does", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(definition, messy), async (made) => {
        const { errors } = await defaultChecker.check(made, { checkConnections: false });
        const elsewhere = errors.filter(({ path }) => typeof parentOf(made, path) !== "object");
        expect(elsewhere).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it("never throws on any JSON", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue(), messy), async (made) => {
        await defaultChecker.check(made, { checkConnections: false });
        const report = await defaultChecker.check(JSON.stringify(made), {
          checkConnections: false,
          inputs: made,
          allowFileFields: true,
        });
        expect(report.valid).toBe(report.errors.length === 0);
      }),
      { numRuns: 150 },
    );
  });

  it("never throws on any text", async () => {
    const words = fc.constantFrom(
      "steps:\n",
      "  - ",
      "id: a\n",
      "    type: set\n",
      "${{ ",
      "}}",
      "{",
      "}",
      "[",
      "]",
      "&a ",
      "*a",
      "!x ",
      "? ",
      ": ",
      "#",
      " # ",
      "\n",
      "'",
      '"',
      "|\n",
      "<<: ",
      "---\n",
      "\t",
      "%",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.array(words, { maxLength: 30 }).map((given) => given.join("")),
        ),
        async (text) => {
          const { errors } = await defaultChecker.check(text, { checkConnections: false });
          expect(errors.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: 500 },
    );
  });
});

/** Has the fields of a definition, with any values. */
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  value,
  fc.constantFrom("1h", "${{ 1 }}", 5, "inputs.n"),
);
const messy = fc.record(
  {
    inputs: fc.oneof(
      fc.constant(inputs),
      anything,
      fc.dictionary(
        fc.constantFrom("type", "properties", "required", "pattern", "default", "$ref", "items"),
        anything,
      ),
    ),
    steps: fc.oneof(
      anything,
      fc.array(
        fc.oneof(
          anything,
          fc.dictionary(
            fc.constantFrom(
              "id",
              "type",
              "needs",
              "if",
              "for_each",
              "concurrency",
              "retry",
              "timeout",
              "values",
              "that",
              "message",
              "form",
              "until",
              "cache",
            ),
            anything,
          ),
          step,
          fc.record(
            {
              id,
              type: fc.constantFrom("set", "assert", "wait", "approval"),
              needs: anything,
              values: anything,
              form: anything,
              retry: fc.record({ on: anything }),
              if: anything,
            },
            { requiredKeys: ["type"] },
          ),
        ),
        { maxLength: 4 },
      ),
    ),
    output: anything,
    schedule: fc.oneof(anything, fc.record({ cron: anything, timezone: anything, inputs: anything })),
    examples: fc.oneof(
      anything,
      fc.array(fc.oneof(anything, fc.record({ inputs: anything })), { maxLength: 2 }),
    ),
    on_failure: anything,
  },
  { requiredKeys: [] },
);

/** Returns the value one level above a path. */
function parentOf(document: unknown, path: string): unknown {
  let here = document;
  let left = path;
  while (left !== "") {
    // Null counts as absent: a field missing in it is reported one level below.
    if (here === null && /^[^.[]+$/.test(left)) return here;
    if (typeof here !== "object" || here === null) return undefined;
    // A key may contain dots, so the longest one that matches is used.
    const keys = Object.keys(here)
      .map((key) => (Array.isArray(here) ? `[${key}]` : key))
      .filter((key) => left === key || (left.startsWith(key) && /^[.[]/.test(left.slice(key.length))));
    const key = keys.toSorted((a, b) => b.length - a.length)[0];
    if (key === undefined) return here;
    const rest = left.slice(key.length).replace(/^\./, "");
    if (rest === "") return here;
    here = (here as Record<string, unknown>)[Array.isArray(here) ? key.slice(1, -1) : key];
    left = rest;
  }
  return {};
}

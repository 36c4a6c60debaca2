import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { StepError } from "../../../src/core/step-errors.ts";
import { workerFile, type WorkerThreadsOptions, workerThreads } from "../../../src/core/worker-thread.ts";
import {
  compileCel,
  compileValue,
  type ExpressionError,
  OTHER_FIELDS_NULL,
  type Scope,
} from "../../../src/engine/definition/expressions/index.ts";
import { type Evaluate, type Evaluator, evaluator } from "../../../src/engine/executor/evaluator.ts";
import type { EvaluationResult, EvaluationTask } from "../../../src/engine/executor/expression-thread.ts";
import {
  expressionOf,
  failingExpression,
  type Kind,
  type Known,
  typeOf,
} from "../../support/definitions/expressions.ts";
import { startCost } from "../../support/expect-cost.ts";
import { quietTime } from "../../support/eventually.ts";
import { patiently } from "../../support/patience.ts";

const THREAD = workerFile(
  "expression-thread",
  new URL("../../../src/engine/executor/evaluator.ts", import.meta.url).href,
);

const threadsWith = (options: Partial<WorkerThreadsOptions> = {}) =>
  workerThreads<EvaluationTask, EvaluationResult>({
    file: THREAD,
    threads: 1,
    memoryMb: 256,
    cpuMs: 60_000,
    wallMs: 120_000,
    maxWaitingPerOwner: Infinity,
    ...options,
  });

/** Opens an evaluator that is closed at the end of the test. */
function open(options: Parameters<typeof evaluator>[0] = {}): Evaluator {
  const opened = evaluator(options);
  onTestFinished(() => opened.close());
  return opened;
}

/** Evaluates everything in the thread. */
const inThread = (): Evaluate => open({ threads: threadsWith(), maxInlineCost: 0 }).forJob("owner");

const scopeOf = (inputs: Record<string, unknown>, more: Partial<Scope> = {}): Scope => ({
  inputs,
  run: { id: "run_1" },
  steps: {},
  ...more,
});

/** 0.2 s of work or more. */
const HEAVY = "range(1000).map(a, range(2000).map(b, a * b).sum()).sum()";
const HEAVY_RESULT = 999 * 500 * (1_999 * 1_000);

async function outcome(work: () => unknown): Promise<unknown> {
  try {
    return { value: await work() };
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    const { code, message, options } = error;
    return {
      code,
      message,
      options,
      summary: (error as ExpressionError).summary,
      transient: error.transient,
    };
  }
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("an expression that is evaluated in a thread", () => {
  it("has the same value or error as on the event loop, whatever it is", async () => {
    const evaluate = inThread();
    const kinds: Kind[] = ["number", "text", "boolean", "list", "object"];
    const known: Known[] = [
      ...kinds.map((kind): Known => ({ source: `inputs.${kind}`, type: typeOf(kind) })),
      ...kinds.map((kind): Known => ({
        source: `steps.a.${kind}`,
        type: { ...typeOf(kind), nullable: true },
      })),
    ];
    const sources = fc.oneof(
      ...kinds.map((kind) => expressionOf(kind, known, true)),
      failingExpression(known),
      ...kinds.map((kind) => expressionOf(kind, known).map((source) => `[${source}].sort_by(x, x)`)),
    );
    const values = fc.record({
      number: fc.double({ noNaN: true, noDefaultInfinity: true }),
      text: fc.string({ unit: "binary" }),
      boolean: fc.boolean(),
      list: fc.array(fc.integer(), { maxLength: 5 }),
      object: fc.record({ n: fc.integer(), t: fc.string() }),
    });
    const output = fc.record({
      number: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
      text: fc.option(fc.string()),
      boolean: fc.option(fc.boolean()),
      list: fc.option(fc.array(fc.integer(), { maxLength: 5 })),
      object: fc.constant(null),
    });
    let [succeeded, failed] = [0, 0];
    await fc.assert(
      fc.asyncProperty(sources, values, output, async (source, inputs, a) => {
        let compiled;
        try {
          compiled = compileCel(source);
        } catch {
          // It does not parse.
          return;
        }
        const scope = scopeOf(inputs, { steps: { a } });
        const expected = await outcome(() => compiled.evaluate(scope));
        if ("value" in (expected as object)) succeeded += 1;
        else failed += 1;
        expect(await outcome(() => evaluate(compiled, scope))).toEqual(plain(expected));
      }),
      { numRuns: 400 },
    );
    expect(Math.min(succeeded, failed)).toBeGreaterThan(40);
  });

  it("reads and returns any JSON unchanged", async () => {
    const evaluate = inThread();
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.jsonValue({ maxDepth: 2 }), async (value, item) => {
        const inputs = JSON.parse(JSON.stringify({ value })) as Record<string, unknown>;
        const scope = scopeOf(inputs, {
          steps: { s: inputs },
          item: JSON.parse(JSON.stringify(item)),
          index: 3,
        });
        const compiled = compileValue({
          v: "${{ inputs.value }}",
          s: ["${{ steps.s }}"],
          i: "${{ [item, index] }}",
        });
        expect(JSON.stringify(await evaluate(compiled, scope))).toBe(
          JSON.stringify(compiled.evaluate(scope)),
        );
      }),
      { numRuns: 200 },
    );
    const odd = JSON.parse('{"__proto__": {"x": 1}, "\\ud800": "\\udc00"}') as Record<string, unknown>;
    const compiled = compileCel("inputs['__proto__'].x == 1 ? inputs : null");
    expect(JSON.stringify(await evaluate(compiled, scopeOf(odd)))).toBe(JSON.stringify(odd));
  });

  it("sees every field of a skipped step as null, also in items and the last iteration", async () => {
    const evaluate = inThread();
    const skipped = { [OTHER_FIELDS_NULL]: true, status: "skipped" };
    const steps = { a: skipped, b: { items: [{ x: 1 }, skipped], last: skipped, count: 2 } };
    const compiled = compileCel(
      "[steps.a.x, steps.b.items[1].x, steps.b.last.x, steps.a.status, steps.b.count]",
    );
    const scope = scopeOf({}, { steps });
    expect(compiled.evaluate(scope)).toEqual([null, null, null, "skipped", 2]);
    expect(await evaluate(compiled, scope)).toEqual([null, null, null, "skipped", 2]);
    await expect(evaluate(compileCel("steps.b.items[0].y"), scope)).rejects.toThrow("reads the field y");
  });

  it("gets a value that many evaluations read only once", async () => {
    const threads = threadsWith();
    const asked = vi.fn<(key: unknown) => void>();
    const evaluate = open({
      maxInlineCost: 0,
      threads: {
        run: (task, options = {}) =>
          threads.run(task, { ...options, answer: (key) => (asked(key), options.answer!(key)) }),
        close: () => threads.close(),
      },
    }).forJob("owner");
    const inputs = { list: Array.from({ length: 20_000 }, (_, index) => index) };
    const compiled = compileCel("inputs.list[item]");
    for (const item of [5, 6, 19_999]) expect(await evaluate(compiled, scopeOf(inputs, { item }))).toBe(item);
    expect(asked).toHaveBeenCalledTimes(1);
  });
});

describe("where an expression is evaluated", () => {
  const refused = {
    run: () => Promise.reject(new Error("a thread was used")),
    close: () => Promise.resolve(),
  };

  it("is the event loop for cheap ones", async () => {
    const evaluate = open({ threads: refused }).forJob("owner");
    expect(await evaluate(compileCel("inputs.a * 2"), scopeOf({ a: 21 }))).toBe(42);
    await expect(evaluate(compileCel("inputs.nope"), scopeOf({ a: 21 }))).rejects.toThrow(
      "reads the field nope",
    );
    expect(await evaluate(compileValue({ a: 1 }), scopeOf({}))).toEqual({ a: 1 });
  });

  it("is a thread for heavy ones, which the event loop does not attempt twice", async () => {
    const run = vi.fn<() => Promise<EvaluationResult>>(() =>
      Promise.resolve({ value: "7", cost: 10_000_000 }),
    );
    const opened = open({ threads: { run, close: () => Promise.resolve() } });
    const compiled = compileCel(HEAVY);
    const measure = vi.spyOn(compiled, "measure");
    const expectCpuTime = startCost();
    expect(await opened.forJob("owner")(compiled, scopeOf({}))).toBe(7);
    expect(await opened.forJob("other")(compiled, scopeOf({}))).toBe(7);
    expectCpuTime(100);
    expect([measure.mock.calls.length, run.mock.calls.length]).toEqual([1, 2]);
    // It is attempted again after it was cheap.
    run.mockResolvedValue({ value: "8", cost: 10 });
    expect(await opened.forJob("owner")(compiled, scopeOf({}))).toBe(8);
    expect(await opened.forJob("owner")(compiled, scopeOf({}))).toBe(8);
    expect([measure.mock.calls.length, run.mock.calls.length]).toEqual([2, 4]);
  });

  it("is a thread when the expressions of a job are heavy together", async () => {
    const run = vi.fn<() => Promise<EvaluationResult>>(() => Promise.resolve({ value: "0", cost: 10 }));
    const opened = open({ threads: { run, close: () => Promise.resolve() }, maxInlineCost: 10_000 });
    const evaluate = opened.forJob("owner");
    const compiled = compileCel("range(800).map(x, x * 2).sum()");
    const work = compiled.measure(scopeOf({})).cost;
    expect(work).toBeGreaterThan(5_000);
    expect(work).toBeLessThan(10_000);
    await evaluate(compiled, scopeOf({}));
    expect(run).not.toHaveBeenCalled();
    await evaluate(compiled, scopeOf({}));
    expect(run).toHaveBeenCalledTimes(1);
    // It is not heavy by itself, so another job evaluates it at once.
    await opened.forJob("owner")(compiled, scopeOf({}));
    expect(run).toHaveBeenCalledTimes(1);
  });

  it("leaves the event loop to others", async () => {
    const opened = open({ threads: threadsWith() });
    const order: string[] = [];
    const heavy = opened
      .forJob("heavy")(compileCel(HEAVY), scopeOf({}))
      .then((value) => {
        order.push("heavy");
        return value;
      });
    const expectCpuTime = startCost();
    await opened.forJob("light")(compileCel("inputs.a + 1"), scopeOf({ a: 1 }));
    order.push("light");
    expect(await heavy).toBe(HEAVY_RESULT);
    expect(order).toEqual(["light", "heavy"]);
    expectCpuTime(200);
  });
});

describe("several owners", () => {
  it("take turns: one with many heavy expressions delays another by one evaluation", async () => {
    const opened = open({ threads: threadsWith() });
    const order: string[] = [];
    const compiled = compileCel("range(200).map(a, range(500).map(b, a * b).sum()).sum() + inputs.n");
    const start = async (owner: string, n: number): Promise<void> => {
      await opened.forJob(owner)(compiled, scopeOf({ n }));
      order.push(owner);
    };
    await Promise.all([
      ...Array.from({ length: 6 }, (_, n) => start("heavy", n)),
      start("light", 1),
      start("other", 1),
    ]);
    expect(order.indexOf("light")).toBeLessThanOrEqual(1);
    expect(order.indexOf("other")).toBeLessThanOrEqual(2);
    expect(order.length).toBe(8);
  });
});

describe("an evaluation in a thread that does not end", () => {
  it("fails when it needs too much memory, and the next one succeeds", async () => {
    const evaluate = open({ threads: threadsWith({ memoryMb: 24 }), maxInlineCost: 100 }).forJob("owner");
    const greedy = compileCel("range(1000000).map(i, [[i], [i], [i]]).size()");
    await expect(evaluate(greedy, scopeOf({}))).rejects.toMatchObject({
      code: "memory_limit",
      transient: false,
    });
    expect(await evaluate(compileCel("range(100).sum() + inputs.n"), scopeOf({ n: 1 }))).toBe(4_951);
  });

  it("fails at the limit of processor time, as a transient error", async () => {
    const evaluate = open({ threads: threadsWith({ cpuMs: 20 }) }).forJob("owner");
    const endless = `range(1000000).map(a, ${HEAVY}).sum()`;
    await expect(evaluate(compileCel(endless), scopeOf({}))).rejects.toMatchObject({
      code: "expression_limit",
      options: { details: { bound: "processor_time" } },
      transient: true,
    });
  });

  it("fails as transient on a machine that has no time for it", async () => {
    const evaluate = open({ threads: threadsWith({ wallMs: 1 }) }).forJob("owner");
    await expect(evaluate(compileCel(HEAVY), scopeOf({}))).rejects.toMatchObject({
      code: "machine_busy",
      transient: true,
    });
  });

  it("ends when its job is aborted, with the reason", async () => {
    const stop = new AbortController();
    const evaluate = open({ threads: threadsWith() }).forJob("owner", stop.signal);
    const evaluated = evaluate(compileCel(HEAVY), scopeOf({}));
    stop.abort(new StepError("cancelled", "The run was cancelled."));
    await expect(evaluated).rejects.toMatchObject({ code: "cancelled" });
  });

  it("leaves its thread to the next evaluation when it is interrupted", async () => {
    const opened = open({ threads: threadsWith({ interruptGraceMs: patiently(60_000) }) });
    const stop = new AbortController();
    const evaluate = opened.forJob("owner", stop.signal);
    // The thread is ready.
    expect(await evaluate(compileCel(HEAVY), scopeOf({}))).toBe(HEAVY_RESULT);
    const interrupted = evaluate(compileCel(`range(1000000).map(a, ${HEAVY}).sum()`), scopeOf({}));
    await quietTime(20);
    stop.abort(new StepError("cancelled", "The run was cancelled."));
    await expect(interrupted).rejects.toMatchObject({ code: "cancelled" });
    // Its only thread would be ended after the grace, if it did not do this.
    expect(await opened.forJob("other")(compileCel(HEAVY), scopeOf({}))).toBe(HEAVY_RESULT);
  });

  it("reaches the limit of work after about as much processor time as it says", async () => {
    const evaluate = open({ threads: threadsWith() }).forJob("owner");
    const endless = `range(1000000).map(a, ${HEAVY}).sum()`;
    await expect(evaluate(compileCel(endless), scopeOf({}))).rejects.toMatchObject({
      code: "expression_limit",
      options: { details: { bound: "work", limit: 100_000_000 } },
      transient: false,
    });
  });
});

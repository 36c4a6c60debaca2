import { describe, expect, it } from "vitest";
import { SECOND } from "../../../src/core/clock.ts";
import { StepError } from "../../../src/core/step-errors.ts";
import { evaluator, type Evaluator } from "../../../src/engine/executor/evaluator.ts";
import { runToEnd, testEngine } from "../../support/engine.ts";

/** An evaluator that has no time for some expressions the first times. */
function starved(times: number, isStarved: (source: string) => boolean): Evaluator {
  const real = evaluator();
  let left = times;
  return {
    forJob(owner, signal) {
      const evaluate = real.forJob(owner, signal);
      return (expression, scope) => {
        if (left === 0 || !isStarved(expression.origin)) return evaluate(expression, scope);
        left -= 1;
        return Promise.reject(new StepError("machine_busy", "The machine is busy."));
      };
    },
    inline() {
      const evaluate = real.inline();
      return (expression, scope) =>
        isStarved(expression.origin)
          ? Promise.reject(new Error("It needs a thread."))
          : evaluate(expression, scope);
    },
    close: () => real.close(),
  };
}

/** Runs a definition, and moves the clock on while jobs were released. */
async function run(expressions: Evaluator, definition: Record<string, unknown>) {
  const harness = await testEngine({ expressions });
  const { id, queue } = await runToEnd(harness, definition);
  for (let round = 0; round < 15; round += 1) {
    harness.clock.advance(6 * SECOND);
    queue.wake();
    await queue.waitUntilIdle();
  }
  const attempts = await harness.read.runs.lastAttempts({ runId: id, stepId: "a", item: null }, 50);
  return { ...(await harness.outcome(id)), attempts };
}

const definition = (more: object = {}) => ({
  steps: [{ id: "a", type: "set", values: { x: "${{ 20 + 1 }}" }, ...more }],
  output: "${{ steps.a.x * 2 }}",
});

describe("an expression that a busy machine has no time for", () => {
  it.each([
    ["a field", "20 + 1", {}],
    ["a condition", "1 < 2", { if: "1 < 2" }],
    ["the output of the run", "steps.a.x * 2", {}],
  ])("is evaluated again, without a retry of the step: %s", async (_, source, more) => {
    const ended = await run(
      starved(3, (origin) => origin.includes(source)),
      definition(more),
    );
    expect(ended).toMatchObject({ status: "succeeded", error: null, output: 42 });
  });

  it("is evaluated again between the iterations of a step", async () => {
    const repeated = {
      steps: [
        {
          id: "a",
          type: "set",
          repeat: { until: "result.x == 2", max: 5, with: { n: { start: 0, next: "loop.n + 1" } } },
          values: { x: "${{ loop.n }}" },
        },
      ],
      output: "${{ steps.a.count }}",
    };
    const ended = await run(
      starved(2, (origin) => origin.includes("result.x == 2")),
      repeated,
    );
    expect(ended).toMatchObject({ status: "succeeded", output: 3 });
  });

  it("fails the step in the end, as a transient error that names the machine", async () => {
    const ended = await run(
      starved(Infinity, (origin) => origin.includes("20 + 1")),
      definition(),
    );
    expect(ended).toMatchObject({ status: "failed", error: { code: "machine_busy", step_id: "a" } });
  });

  it("fails the run in the end if it is its output", async () => {
    const ended = await run(
      starved(Infinity, (origin) => origin.includes("* 2")),
      definition(),
    );
    expect(ended).toMatchObject({ status: "failed", error: { code: "machine_busy" } });
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StepError } from "../../../src/core/step-errors.ts";
import { testEngine } from "../../support/engine.ts";

/** What an iteration does: it fails temporarily so often, and then succeeds with a value or fails. */
interface Outcome {
  retries: number;
  end: "small" | "large" | "failed";
}

interface Loop {
  outcomes: Outcome[];
  max: number;
  attempts: number;
  continues: boolean;
  hasCondition: boolean;
  every: string | undefined;
}

const loops: fc.Arbitrary<Loop> = fc.record({
  outcomes: fc.array(
    fc.record({
      retries: fc.nat({ max: 3 }),
      end: fc.constantFrom<Outcome["end"]>("small", "small", "small", "large", "failed"),
    }),
    { minLength: 12, maxLength: 12 },
  ),
  max: fc.integer({ min: 1, max: 12 }),
  attempts: fc.integer({ min: 2, max: 4 }),
  continues: fc.boolean(),
  hasCondition: fc.boolean(),
  every: fc.constantFrom(undefined, "5s"),
});

/** What a loop should do, in a few lines. */
function expected({ outcomes, max, attempts, continues, hasCondition }: Loop) {
  const calls: number[] = [];
  const statuses: string[] = [];
  for (let index = 0; ; index += 1) {
    const { retries, end } = outcomes[index]!;
    const isExhausted = retries >= attempts;
    for (let call = 0; call < Math.min(retries + 1, attempts); call += 1) calls.push(index);
    const succeeds = !isExhausted && end !== "failed";
    statuses.push(succeeds ? "succeeded" : "failed");
    if (!succeeds && !continues)
      return { calls, statuses, code: isExhausted ? "http_failed" : "step_failed" };
    if (hasCondition && succeeds && end === "large") return { calls, statuses, code: null };
    if (index + 1 === max) return { calls, statuses, code: hasCondition ? "repeat_exhausted" : null };
  }
}

describe("repeat", () => {
  it("does what a simple model says, whatever its iterations do", async () => {
    const harness = await testEngine();
    const queue = await harness.executor();
    await fc.assert(
      fc.asyncProperty(loops, async (loop) => {
        const { outcomes, max, attempts, continues, hasCondition, every } = loop;
        const calls: number[] = [];
        const failures = outcomes.map(({ retries }) => retries);
        harness.onProbe((ask) => {
          const index = Number(ask);
          calls.push(index);
          failures[index]! -= 1;
          if (failures[index]! >= 0) throw new StepError("http_failed", "temporary");
          if (outcomes[index]!.end === "failed") throw new StepError("step_failed", "final");
          return outcomes[index]!.end;
        });
        const id = await harness.start(
          await harness.define({
            steps: [
              {
                id: "a",
                type: "probe",
                ask: "${{ loop.index }}",
                retry: { attempts, initial: "1s" },
                ...(continues && { on_error: "continue" }),
                repeat: {
                  max,
                  ...(hasCondition && { until: "result.value == 'large'" }),
                  ...(every !== undefined && { every }),
                },
              },
            ],
            output: {
              statuses: "${{ steps.a.items.map(i, i.status) }}",
              last: "${{ steps.a.last.status }}",
              count: "${{ steps.a.count }}",
              code: "${{ steps.a.error == null ? null : steps.a.error.code }}",
            },
          }),
        );
        for (
          let dueAt: string | null = harness.now();
          dueAt !== null;
          dueAt = await harness.read.jobs.nextDueAt(harness.now())
        ) {
          harness.clock.advance(Math.max(0, Date.parse(dueAt) - harness.clock.now()));
          queue.wake();
          await queue.waitUntilIdle();
        }
        const model = expected(loop);
        expect(calls).toEqual(model.calls);
        const { status, output, error } = await harness.outcome(id);
        const { statuses, code } = model;
        const fails = code !== null && !continues;
        expect({ status, output, code: error?.code ?? null }).toEqual({
          status: fails ? "failed" : "succeeded",
          output: fails ? null : { statuses, last: statuses.at(-1), count: statuses.length, code },
          code: fails ? code : null,
        });
        const step = await harness.read.runs.step({ runId: id, stepId: "a", item: null });
        const failed = model.statuses.filter((end) => end === "failed").length;
        expect(step?.items).toMatchObject({
          total: model.statuses.length,
          done: model.statuses.length,
          failed,
        });
        expect(await harness.read.jobs.depth()).toEqual({ ready: 0, later: 0, claimed: 0 });
      }),
      { numRuns: 40 },
    );
  });
});

import { describe, expect, it } from "vitest";
import { iso } from "../../src/core/clock.ts";
import { testEngine } from "../support/engine.ts";

describe("the attempts of a step", () => {
  it("are its newest ones, oldest first, without those of other steps and items", async () => {
    const { transaction, read, define, start } = await testEngine();
    const runId = await start(await define({ steps: [{ id: "a", type: "wait", for: "1h" }] }));
    const step = { runId, stepId: "a", item: null };
    await transaction(async (tx) => {
      for (const ref of [step, { ...step, item: 0 }, { ...step, stepId: "b" }])
        for (let attempt = 1; attempt <= 25; attempt += 1) {
          const startedAt = iso(attempt);
          const end = { status: "interrupted", finishedAt: startedAt, usage: null, error: null } as const;
          await tx.runs.saveAttempt(ref, { attempt, executor: "exe_1", startedAt, ...end });
        }
    });
    const attempts = await read.runs.lastAttempts(step, 20);
    expect(attempts.map(({ stepId, item, attempt }) => [stepId, item, attempt])).toEqual(
      Array.from({ length: 20 }, (_, index) => ["a", null, index + 6]),
    );
    const ofSteps = await read.runs.lastAttemptsOfSteps(runId, ["b", "a", "none"], 2);
    expect(ofSteps.map(({ stepId, item, attempt }) => [stepId, item, attempt])).toEqual([
      ["a", null, 24],
      ["a", null, 25],
      ["b", null, 24],
      ["b", null, 25],
    ]);
  });
});

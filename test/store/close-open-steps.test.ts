import { describe, expect, it } from "vitest";
import type { StepState } from "../../src/core/step-states.ts";
import { testEngine } from "../support/engine.ts";

const OPEN: readonly StepState[] = ["queued", "running", "waiting"];
const ENDED: readonly StepState[] = ["succeeded", "skipped", "failed_continued", "failed", "cancelled"];
const STARTED = "2026-01-01T00:00:00.000Z";
const CLOSED = "2026-01-01T00:01:00.000Z";

/** A run with one step in the given state, whose steps were closed. */
async function closed(state: StepState) {
  const { transaction, read, define, start } = await testEngine();
  const id = await start(await define({ steps: [{ id: "a", type: "wait", for: "1h" }] }));
  const ref = { runId: id, stepId: "a", item: null };
  const attempt = { attempt: 1, executor: "exe_1", startedAt: STARTED, usage: null, error: null };
  await transaction(async (tx) => {
    await tx.runs.saveStep(ref, { seq: 1, state, attempts: 1, startedAt: STARTED, finishedAt: null });
    await tx.runs.saveAttempt(ref, { ...attempt, status: "running", finishedAt: null });
  });
  const abandoned = await transaction((tx) => tx.runs.closeOpenSteps(id, CLOSED));
  return { abandoned, step: await read.runs.step(ref), attempts: await read.runs.lastAttempts(ref, 20) };
}

describe("closing the open steps of a run", () => {
  it.each(OPEN)("cancels a step that is %s", async (state) => {
    const { step } = await closed(state);
    expect(step).toMatchObject({ state: "cancelled", finishedAt: CLOSED });
  });

  it.each(ENDED)("leaves a step that is %s as it is", async (state) => {
    const { step } = await closed(state);
    expect(step).toMatchObject({ state, finishedAt: null });
  });

  it("cancels the attempts that are running, and returns them", async () => {
    const { abandoned, attempts } = await closed("waiting");
    expect(abandoned).toMatchObject([{ stepId: "a", item: null, attempt: 1, startedAt: STARTED }]);
    expect(attempts).toMatchObject([{ status: "cancelled", finishedAt: CLOSED }]);
  });
});

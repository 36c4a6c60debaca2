/** Compares what the checker says of a definition with what a run of it does. */
import { inlineValidation } from "../../../src/core/validation.ts";
import { formatShape } from "../../../src/core/format-shape.ts";
import type { RunFacts } from "../../../src/core/model.ts";
import { prepareRun } from "../../../src/engine/run-state/prepare-run.ts";
import { startRun } from "../../../src/engine/run-state/start-run.ts";
import { TEST_ACTOR, type TestEngine } from "../engine.ts";
import { describeMismatch } from "../shapes.ts";
import type { Generated } from "./generate.ts";

export type Verdict = "accepted" | "refused" | "warned and null";

/**
 * Returns a function that checks a definition, runs it whatever the checker says, and compares the two.
 * It throws an Error if the checker accepts a definition that fails, refuses one that succeeds, or claims an output that
 * does not arrive.
 */
export async function definitionOracle(harness: TestEngine): Promise<(made: Generated) => Promise<Verdict>> {
  const { engine, read, transaction, outcome } = harness;
  const queue = await harness.executor();
  const workflowId = await harness.define({ steps: [{ id: "a", type: "set", values: { x: 1 } }] });
  /** What the check of the current definition has found for its run. */
  let facts: RunFacts = {};
  /** Prepares runs whatever the checker says. */
  const prepare = prepareRun({
    workflows: read.workflows,
    runs: read.runs,
    definitionCache: engine.context.definitionCache,
    assertDiskSpace: () => Promise.resolve(),
    assertQueueMoves: () => Promise.resolve(),
    check: () => Promise.resolve({ issues: [], facts }),
    validation: inlineValidation,
    pinCalls: () => Promise.resolve({}),
    isOffered: () => Promise.resolve(false),
    beyondLimits: () => Promise.resolve([]),
    keyOfStart: () => Promise.resolve({ limits: null }),
    unsignedApprovals: () => Promise.resolve([]),
  });

  async function run({ definition, inputs }: Generated) {
    try {
      const prepared = await prepare({
        workflowId,
        caller: null,
        definition,
        inputs,
        actor: TEST_ACTOR,
        trigger: "rest",
      });
      await transaction((tx) => startRun(engine.context, tx, prepared));
      queue.wake();
      await queue.waitUntilIdle();
      return await outcome(prepared.id);
    } catch (error) {
      return { status: "failed", error: { code: "not_started", message: String(error) }, output: null };
    }
  }

  return async (made) => {
    const { signal } = new AbortController();
    const report = await engine.checkInline(made.definition, { checkConnections: true, signal });
    facts = Object.fromEntries(
      report.steps.flatMap(({ id, facts: own }) => (own === undefined ? [] : [[id, own]])),
    );
    const ended = await run(made);
    const fail = (what: string, details: unknown): never => {
      throw new Error(`${what}: ${JSON.stringify(details)}\n${JSON.stringify(made, null, 1)}`);
    };
    if (ended.status === "succeeded") {
      if (!report.valid) fail("refused, but runs", report.errors);
      const mismatch = describeMismatch(report.output_shape, ended.output);
      if (mismatch !== undefined) fail(`claims ${formatShape(report.output_shape)}, but`, mismatch);
      return "accepted";
    }
    if (!report.valid) return "refused";
    const isExpected =
      ended.error?.code === "null_value" && report.warnings.some(({ code }) => code === "maybe_null");
    if (!isExpected) fail("accepted, but fails", ended.error);
    return "warned and null";
  };
}

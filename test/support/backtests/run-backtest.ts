/** Runs a backtest of given runs to its end. */
import type { BacktestRunRecord } from "../../../src/core/backtest-ports.ts";
import { iso } from "../../../src/core/clock.ts";
import { newBacktestId } from "../../../src/core/ids.ts";
import { TEST_ACTOR, type TestEngine } from "../engine.ts";

/** Maximum number of polls. */
const MAX_POLLS = 100;

/** @returns what it found about each run, in their order */
export async function runBacktest(
  { engine, read, transaction, clock }: TestEngine,
  queue: { wake(): void; waitUntilIdle(): Promise<void> },
  {
    workflowId,
    definition,
    runs,
  }: { workflowId: string; definition: Record<string, unknown>; runs: readonly string[] },
): Promise<BacktestRunRecord[]> {
  const id = newBacktestId();
  const backtest = {
    id,
    workflowId,
    project: "default",
    version: 1,
    definition,
    sourceWorkflowId: workflowId,
    reads: "recorded",
    given: {},
    digest: null,
    status: "running",
    total: runs.length,
    message: null,
    summary: null,
    actor: TEST_ACTOR,
    keyLimits: null,
    createdAt: iso(clock.now()),
    finishedAt: null,
    cancelledBy: null,
  } as const;
  await transaction((tx) => tx.backtests.insert(backtest, runs));
  for (let polls = 0; (await read.backtests.find(id))!.status === "running"; polls += 1) {
    if (polls > MAX_POLLS) throw new Error(`the backtest ${id} does not end`);
    await engine.backtester.startRuns();
    queue.wake();
    await queue.waitUntilIdle();
  }
  return read.backtests.runs(id, { after: null, limit: runs.length });
}

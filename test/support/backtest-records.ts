/** Backtests for tests of the store. */
import type { BacktestDetails, BacktestRecord } from "../../src/core/backtest-ports.ts";

/** A running backtest of the workflow "test" with the definition of its version, to be inserted. */
export const newBacktest = (id: string, fields: Partial<BacktestRecord> = {}): BacktestRecord => ({
  id,
  workflowId: "test",
  project: "default",
  version: 1,
  definition: null,
  sourceWorkflowId: fields.workflowId ?? "test",
  reads: "recorded",
  given: {},
  digest: null,
  status: "running",
  total: 0,
  message: null,
  summary: null,
  actor: { owner: "ann@example.com", keyName: "ci", lineage: "key_1", surface: "mcp", client: "an agent" },
  keyLimits: null,
  createdAt: "2026-11-21T08:00:00.000Z",
  finishedAt: null,
  cancelledBy: null,
  ...fields,
});

/** What was found about a run that differs in one step. */
export const backtestDetails: BacktestDetails = {
  difference: { step: "total", message: "The output differs.", differences: [] },
  effects: [],
  stepMs: { before: 1_200, after: 800 },
  tokens: { before: 0, after: 0 },
  cost: { before: 0, after: 0 },
};

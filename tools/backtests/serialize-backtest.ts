/** Backtests as the API returns them. */
import {
  type Backtest,
  type BacktestResult,
  type BacktestRun,
  type BacktestSummary,
  SHOWN_RUNS,
} from "../../schemas/backtest.ts";
import { projectField } from "../../schemas/project.ts";
import type { BacktestRecord, BacktestRunRecord } from "../../src/core/backtest-ports.ts";
import { AppError } from "../../src/core/errors.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import type { Readers } from "../../src/core/ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";

type Reading = Pick<Readers, "workflows" | "backtests" | "runs">;

/** Number of runs, and of names of differences, that are shown over MCP, where a model reads all of it. */
const MCP_SHOWN_RUNS = 3;
const MCP_SHOWN_NAMES = 10;

/** @throws AppError workflow_not_found, backtest_not_found */
export async function findBacktest(
  read: Pick<Readers, "workflows" | "backtests">,
  workflowId: string,
  id: string,
): Promise<BacktestRecord> {
  const workflow = await findWorkflow(read.workflows, workflowId);
  const found = await read.backtests.find(id);
  if (found?.workflowId === workflow.id) return found;
  throw new AppError(
    "backtest_not_found",
    `"${workflow.id}" has no backtest "${id.slice(0, 100)}". GET /workflows/${workflow.id}/backtests lists them.`,
  );
}

/** In the order of what a reader looks at first. */
const SHOWN: readonly BacktestResult[] = ["failing", "different", "not_comparable"];

/** @param read may be a transaction */
export async function toBacktest(
  ctx: Pick<ToolContext, "actor" | "read">,
  record: BacktestRecord,
  read: Reading = ctx.read,
): Promise<Backtest> {
  const { id, workflowId, total, sourceWorkflowId } = record;
  const counts = await read.backtests.resultCounts(id);
  const { equal = 0, different = 0, failing = 0, not_comparable = 0 } = counts;
  const isAgent = ctx.actor.client.surface === "mcp";
  const first = await firstRuns(read, id, counts, isAgent ? MCP_SHOWN_RUNS : SHOWN_RUNS);
  const runs = {
    total,
    pending: total - equal - different - failing - not_comparable,
    equal,
    different,
    failing,
    not_comparable,
  };
  return {
    id,
    workflow_id: workflowId,
    ...projectField(record.project),
    version: record.version,
    ...(record.definition !== null && { draft: true as const }),
    ...(sourceWorkflowId !== workflowId && { source_workflow_id: sourceWorkflowId }),
    reads: record.reads,
    status: record.status,
    runs,
    first,
    ...(record.summary !== null && shownSummary(record.summary, isAgent)),
    message: record.message,
    started_by: record.actor.owner,
    created_at: record.createdAt,
    finished_at: record.finishedAt,
    cancelled_by: record.cancelledBy,
    next: nextOf(record, runs),
  };
}

const shownSummary = (summary: BacktestSummary, isAgent: boolean): BacktestSummary => ({
  ...summary,
  ...(summary.differing !== undefined && {
    differing: isAgent ? summary.differing.slice(0, MCP_SHOWN_NAMES) : summary.differing,
  }),
  effects: summary.effects.filter(({ changed, added, removed }) => !isAgent || changed + added + removed > 0),
});

async function firstRuns(
  read: Reading,
  id: string,
  counts: Partial<Record<BacktestResult, number>>,
  limit: number,
): Promise<BacktestRun[]> {
  const first: BacktestRun[] = [];
  for (const result of SHOWN) {
    if ((counts[result] ?? 0) === 0 || first.length >= limit) continue;
    const found = await read.backtests.runs(id, {
      results: [result],
      after: null,
      limit: limit - first.length,
    });
    for (const run of found) first.push(await toBacktestRun(read, run));
  }
  return first;
}

/** @param read may be a transaction */
export async function toBacktestRun(
  read: Pick<Readers, "runs">,
  { position, sourceRun, run, result, details }: BacktestRunRecord,
): Promise<BacktestRun> {
  const source = await read.runs.find(sourceRun);
  return {
    position,
    run_id: sourceRun,
    replay: run,
    ...(source !== undefined && { status: source.status, created_at: source.createdAt }),
    result,
    ...(details?.difference !== undefined && { difference: details.difference }),
  };
}

function nextOf({ id, workflowId, status, reads }: BacktestRecord, runs: Backtest["runs"]): string {
  const path = `/workflows/${workflowId}/backtests/${id}`;
  if (status === "running")
    return `${runs.pending} of ${runs.total} runs have not ended: backtest_workflow with backtest_id (GET ${path}?wait=50) waits for them.`;
  if (status !== "finished")
    return `It ended early: ${runs.pending} of ${runs.total} runs were not compared.`;
  if (runs.equal === runs.total) return "All runs are equal.";
  const all = `GET ${path}/runs?result=different lists runs; compare a run with its replay with GET /runs/{replay}/compare?with={run_id}.`;
  return reads === "recorded" && runs.not_comparable > 0
    ? `${all} With reads: "live", changed queries run.`
    : all;
}

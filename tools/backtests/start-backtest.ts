/** Starts backtests: checks that the caller may run them, and stores them with their runs. */
import { projectOf } from "../../schemas/project.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import type { BacktestRecord } from "../../src/core/backtest-ports.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { newBacktestId } from "../../src/core/ids.ts";
import type { RunRecord } from "../../src/core/model.ts";
import type { Writers } from "../../src/core/ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { usageSubjectOf } from "../../src/core/usage-limits.ts";
import { runActor, runCaller } from "../runs/run-actor.ts";
import { publicationDigest } from "./publication-digest.ts";

/** Maximum number of backtests of an owner that run at a time. */
const MAX_RUNNING = 3;

export interface PreparedBacktest {
  backtest: BacktestRecord;
  runs: readonly RunRecord[];
}

type Tested = Pick<BacktestRecord, "version" | "definition" | "given" | "reads"> & {
  /** The workflow of the runs. */
  source: WorkflowWithDefinition;
  /** At least one. */
  runs: readonly RunRecord[];
};

/** Prepares a backtest and its first replay. @throws AppError see `prepareRun` */
export async function prepareBacktest(
  ctx: ToolContext,
  workflow: WorkflowWithDefinition,
  { source, runs, ...tested }: Tested,
): Promise<PreparedBacktest> {
  const backtest: BacktestRecord = {
    id: newBacktestId(),
    workflowId: workflow.id,
    project: projectOf(workflow),
    ...tested,
    digest: null,
    sourceWorkflowId: source.id,
    status: "running",
    total: runs.length,
    message: null,
    summary: null,
    actor: runActor(ctx),
    keyLimits: ctx.actor.principal.access.keyLimits,
    createdAt: iso(ctx.now()),
    finishedAt: null,
    cancelledBy: null,
  };
  await assertMayRun(ctx, backtest, runs[0]!);
  const isSaved = tested.definition === null;
  const digest = isSaved ? await publicationDigest(ctx, ctx.read, workflow, tested.version) : null;
  return { backtest: { ...backtest, digest }, runs };
}

/**
 * @param prepared or why it could not be prepared, which a repeated request with the same key does not ask
 * @param isOwn whether the caller asked for the backtest: a repeated request with the same key starts none then
 * @returns the id of the backtest
 * @throws AppError too_many_backtests, storage_limit_reached
 */
export async function saveBacktest(
  ctx: ToolContext,
  prepared: PreparedBacktest | { error: unknown },
  isOwn = true,
): Promise<string> {
  const save = async (tx: Writers): Promise<string> => {
    if ("error" in prepared) throw prepared.error;
    const { backtest, runs } = prepared;
    const { workflowId, project, version, definition, reads } = backtest;
    if ((await tx.backtests.countRunning(usageSubjectOf(backtest.actor))) >= MAX_RUNNING)
      throw new AppError(
        "too_many_backtests",
        `${MAX_RUNNING} of your backtests are running, which is the maximum. Wait until one has ended, or cancel one ` +
          "(POST /workflows/{workflow_id}/backtests/{backtest_id}/cancel).",
      );
    await ctx.engine.assertMayStore(tx, ctx.actor.principal, project);
    await tx.backtests.insert(
      backtest,
      runs.map((run) => run.id),
    );
    const details = { backtest: backtest.id, version, draft: definition !== null, runs: runs.length, reads };
    await tx.recordAudit(workflowId, undefined, { details });
    return backtest.id;
  };
  const id = await (isOwn ? ctx.write(save) : ctx.write(save, "backtest_started", { again: true }));
  ctx.engine.wake();
  return id;
}

/** Prepares the first replay, in the name and with the limits of the caller. @throws AppError see `prepareRun` */
async function assertMayRun(ctx: ToolContext, backtest: BacktestRecord, first: RunRecord): Promise<void> {
  const { id, workflowId, sourceWorkflowId, version, definition, given, reads } = backtest;
  const replay = { runId: first.id, workflowId: sourceWorkflowId, backtest: id, reads };
  try {
    await ctx.engine.prepareRun({
      workflowId,
      version,
      ...(definition !== null && { definition }),
      caller: runCaller(ctx),
      inputs: await ctx.read.runs.inputs(first.id),
      areInputsStored: true,
      actor: runActor(ctx),
      trigger: "backtest",
      trial: { given },
      replay,
    });
  } catch (error) {
    // Inputs that the definition refuses are a result of the backtest.
    if (!(error instanceof AppError) || error.code !== "invalid_input") throw error;
  }
}

/** What a bulk action would do, for its preview and before it starts. */
import type { BulkActionPlan, SkippedRuns, SkipReason } from "../../schemas/bulk-action.ts";
import type { NewBulkRun } from "../../src/core/bulk-action-ports.ts";
import { canonicalJson } from "../../src/core/canonical-json.ts";
import type { PreparedRun, RetryPlan } from "../../src/core/engine-port.ts";
import { AppError, isStorageUnavailable } from "../../src/core/errors.ts";
import type { RunRecord } from "../../src/core/model.ts";
import { retryPlanDigest } from "../../src/core/retry-plan-digest.ts";
import { shortHash } from "../../src/core/short-hash.ts";
import { addUpSkipped } from "../../src/core/skipped-runs.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { retryRequest } from "../../src/engine/executor/retry-request.ts";
import { runActor, runCaller } from "../runs/run-actor.ts";
import { hasEnded } from "../runs/run-response.ts";

/** Number of runs that are named in each place. */
const NAMED_RUNS = 5;
/** Errors that say nothing about a run, but that nothing can start now. */
const NOT_OF_RUN: ReadonlySet<string> = new Set(["too_many_runs", "rate_limited"]);

export interface PlannedAction {
  /** In the order in which they are handled. */
  runs: NewBulkRun[];
  groups: BulkActionPlan[];
  skipped: SkippedRuns[];
  /** Stands for all of it. */
  digest: string;
}

/** What happens with one run. */
type Planned =
  | { plan: RetryPlan | null; version: number; types: ReadonlyMap<string, string> }
  | { reason: SkipReason; message?: string };

/**
 * Plans a bulk action. It writes nothing.
 * @param runs the oldest first
 * @throws AppError storage_full, too_many_runs
 */
export async function planBulkAction(
  ctx: ToolContext,
  { action, version }: { action: "retry" | "cancel"; version?: number | undefined },
  runs: readonly RunRecord[],
): Promise<PlannedAction> {
  const ids = new Set(runs.map(({ id }) => id));
  const chosen: NewBulkRun[] = [];
  const groups = new Map<string, BulkActionPlan>();
  const skipped: SkippedRuns[] = [];
  for (const run of runs) {
    ctx.signal.throwIfAborted();
    const planned = action === "cancel" ? planCancel(run) : await planRetryOf(ctx, run, { version, ids });
    if ("reason" in planned) skipped.push({ ...planned, runs: 1, first: [run.id] });
    else {
      addTo(groups, run, planned);
      chosen.push({
        run: run.id,
        planDigest: planned.plan === null ? null : retryPlanDigest(planned.plan),
      });
    }
  }
  const plan = { runs: chosen, groups: [...groups.values()], skipped: addUpSkipped(skipped) };
  const digest = shortHash(canonicalJson([action, version ?? null, chosen]));
  return { ...plan, digest };
}

const planCancel = (run: RunRecord): Planned =>
  hasEnded(run) ? { reason: "wrong_status" } : { plan: null, version: run.version, types: new Map() };

async function planRetryOf(
  ctx: ToolContext,
  run: RunRecord,
  { version, ids }: { version: number | undefined; ids: ReadonlySet<string> },
): Promise<Planned> {
  if (!hasEnded(run)) return { reason: "wrong_status" };
  if (run.replay !== null)
    return { reason: "not_runnable", message: "It is part of a backtest: start another backtest." };
  const { items } = await ctx.read.runs.page({ filter: { retryOf: run.id }, after: null, limit: 1 });
  if (items.length > 0) return { reason: "already_retried" };
  if (await isPartOf(ctx, run, ids)) return { reason: "part_of_run" };
  const prepared = await prepare(ctx, run, version);
  if ("reason" in prepared) return prepared;
  const { steps } = await ctx.engine.getDefinition(prepared);
  return {
    plan: await ctx.engine.planRetry(run, prepared),
    version: prepared.version,
    types: new Map(steps.map(({ id, type }) => [id, type])),
  };
}

/** Whether one of these runs started it, or started what did: its retry starts it again. */
async function isPartOf(ctx: ToolContext, run: RunRecord, ids: ReadonlySet<string>): Promise<boolean> {
  for (let child = run; child.parent !== null;) {
    const { runId } = child.parent;
    if (ids.has(runId)) return true;
    const parent = await ctx.read.runs.find(runId);
    if (parent === undefined) return false;
    child = parent;
  }
  return false;
}

async function prepare(
  ctx: ToolContext,
  run: RunRecord,
  version: number | undefined,
): Promise<PreparedRun | { reason: SkipReason; message: string }> {
  const by = { caller: runCaller(ctx), actor: runActor(ctx), trigger: ctx.actor.client.surface };
  try {
    const prepared = await ctx.engine.prepareRun(await retryRequest(ctx.read.runs, run, by, { version }));
    if (prepared.project === run.project) return prepared;
    const message = `Its workflow was moved to the project "${prepared.project}": retry the run by itself.`;
    return { reason: "not_runnable", message };
  } catch (error) {
    if (!(error instanceof AppError) || isStorageUnavailable(error) || NOT_OF_RUN.has(error.code))
      throw error;
    return { reason: "not_runnable", message: error.message };
  }
}

function addTo(
  groups: Map<string, BulkActionPlan>,
  { id, workflowId }: RunRecord,
  { plan, version, types }: Exclude<Planned, { reason: SkipReason }>,
): void {
  const key = canonicalJson([workflowId, version]);
  const group: BulkActionPlan = groups.get(key) ?? { workflow_id: workflowId, version, runs: 0 };
  groups.set(key, group);
  group.runs += 1;
  if (plan === null) return;
  group.reused = counted(group.reused, plan.reused);
  group.run = counted(group.run, plan.run);
  group.effects ??= [];
  for (const step of plan.effects) {
    let effect = group.effects.find((one) => one.step === step);
    if (effect === undefined) {
      effect = { step, type: types.get(step)!, runs: 0, again: 0, first: [] };
      group.effects.push(effect);
    }
    effect.runs += 1;
    if (!plan.again.includes(step)) continue;
    effect.again += 1;
    if (effect.first.length < NAMED_RUNS) effect.first.push(id);
  }
}

function counted(counts: Record<string, number> = {}, steps: readonly string[]): Record<string, number> {
  for (const step of steps) counts[step] = (counts[step] ?? 0) + 1;
  return counts;
}

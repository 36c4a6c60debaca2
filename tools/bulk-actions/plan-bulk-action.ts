/** What a bulk action would do, for its preview and before it starts. */
import { z } from "zod";
import type { BulkActionPlan, SkippedRuns, SkipReason } from "../../schemas/bulk-action.ts";
import type { NewBulkRun } from "../../src/core/bulk-action-ports.ts";
import { canonicalJson } from "../../src/core/canonical-json.ts";
import type { RetryPlan } from "../../src/core/engine-port.ts";
import { AppError } from "../../src/core/errors.ts";
import type { RunRecord } from "../../src/core/model.ts";
import { retryPlanDigest } from "../../src/core/retry-plan-digest.ts";
import { shortHash } from "../../src/core/short-hash.ts";
import { addUpSkipped } from "../../src/core/skipped-runs.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { isPassing, retryPreparer, retryRequest } from "../../src/engine/executor/retry-request.ts";
import { runActor, runCaller } from "../runs/run-actor.ts";
import { hasEnded } from "../runs/run-response.ts";
import type { Chosen } from "./chosen-runs.ts";

/** Number of runs that are named in each place. */
const NAMED_RUNS = 5;

export interface PlannedRuns {
  /** In the order in which they are handled. */
  runs: NewBulkRun[];
  groups: BulkActionPlan[];
  skipped: SkippedRuns[];
}

/** What happens with one run. */
type Planned =
  | { plan: RetryPlan | null; digest: string | null; version: number; types: ReadonlyMap<string, string> }
  | { reason: SkipReason; message?: string };

/** The runs of one request. */
interface Request {
  version: number | undefined;
  prepare: ReturnType<typeof retryPreparer>;
}

/**
 * Plans a bulk action. It writes nothing.
 * @throws AppError storage_full, too_many_runs
 */
export async function planBulkAction(
  ctx: ToolContext,
  { action, version }: { action: "retry" | "cancel"; version?: number | undefined },
  { runs, skipped: before }: Pick<Chosen, "runs" | "skipped">,
): Promise<PlannedRuns> {
  const request = { version, prepare: retryPreparer((one) => ctx.engine.prepareRun(one)) };
  const chosen: NewBulkRun[] = [];
  const groups = new Map<string, BulkActionPlan>();
  const skipped = [...before];
  for (const run of runs) {
    ctx.signal.throwIfAborted();
    const planned = action === "cancel" ? planCancel(run) : await planRetryOf(ctx, run, request);
    if ("reason" in planned) skipped.push({ ...planned, runs: 1, first: [run.id] });
    else {
      addTo(groups, run, planned, version === undefined);
      chosen.push({ run: run.id, planDigest: planned.digest });
    }
  }
  return { runs: chosen, groups: [...groups.values()], skipped: addUpSkipped(skipped) };
}

const planCancel = (run: RunRecord): Planned =>
  hasEnded(run)
    ? { reason: "wrong_status" }
    : { plan: null, digest: null, version: run.version, types: new Map() };

async function planRetryOf(ctx: ToolContext, run: RunRecord, request: Request): Promise<Planned> {
  if (!hasEnded(run)) return { reason: "wrong_status" };
  if (run.replay !== null)
    return { reason: "not_runnable", message: `${run.id} is part of a backtest: start another backtest.` };
  return planPrepared(ctx, run, request);
}

async function planPrepared(ctx: ToolContext, run: RunRecord, request: Request): Promise<Planned> {
  const by = { caller: runCaller(ctx), actor: runActor(ctx), trigger: ctx.actor.client.surface };
  try {
    const { version } = request;
    const retry = await request.prepare(await retryRequest(ctx.read.runs, run, by, { version }));
    if (retry.project !== run.project)
      return {
        reason: "not_runnable",
        message: `The workflow of ${run.id} was moved to another project: retry the run by itself.`,
      };
    const plan = await ctx.engine.planRetry(run, retry);
    const { steps } = await ctx.engine.getDefinition(retry);
    return {
      plan,
      digest: retryPlanDigest(retry, plan),
      version: retry.version,
      types: new Map(steps.map(({ id, type }) => [id, type])),
    };
  } catch (error) {
    // The definition is one that this release does not read.
    if (error instanceof z.ZodError)
      return { reason: "not_runnable", message: `${run.id} can't be read with its definition any more.` };
    if (!(error instanceof AppError) || isPassing(error)) throw error;
    return { reason: "not_runnable", message: `${run.id}: ${error.message}` };
  }
}

function addTo(
  groups: Map<string, BulkActionPlan>,
  { id, workflowId, definition }: RunRecord,
  { plan, version, types }: Exclude<Planned, { reason: SkipReason }>,
  keepsDefinition: boolean,
): void {
  const own =
    plan !== null && keepsDefinition && definition !== null ? shortHash(canonicalJson(definition)) : null;
  const key = canonicalJson([workflowId, version, own]);
  const group: BulkActionPlan = groups.get(key) ?? {
    workflow_id: workflowId,
    version: workflowId === null ? null : version,
    ...(own !== null && workflowId !== null && { changed: true }),
    runs: 0,
  };
  groups.set(key, group);
  group.runs += 1;
  if (plan === null) return;
  group.reused = counted(group.reused, plan.reused);
  group.run = counted(group.run, plan.run);
  group.effects ??= [];
  const effects = new Map(group.effects.map((effect) => [effect.step, effect]));
  const again = new Set(plan.again);
  for (const step of plan.effects) {
    let effect = effects.get(step);
    if (effect === undefined) {
      effect = { step, type: types.get(step)!, runs: 0, again: 0, first: [] };
      group.effects.push(effect);
    }
    effect.runs += 1;
    if (!again.has(step)) continue;
    effect.again += 1;
    if (effect.first.length < NAMED_RUNS) effect.first.push(id);
  }
}

function counted(counts: Record<string, number> = {}, steps: readonly string[]): Record<string, number> {
  for (const step of steps) counts[step] = (counts[step] ?? 0) + 1;
  return counts;
}

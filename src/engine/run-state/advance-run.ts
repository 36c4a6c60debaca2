/**
 * Advances runs: asks the decider what follows from the states of the steps, and writes it in the transaction of the
 * change. Nothing here evaluates an expression or reaches beyond the store.
 */
import { announceEnds } from "./announce-ends.ts";
import type { RunError } from "../../../schemas/run.ts";
import { iso } from "../../core/clock.ts";
import type { RunStop } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import { decide } from "./decide.ts";
import { concludeRun, type FinishResult, finishUpdate } from "./end-run.ts";
import { recordWaiting } from "./outgoing-events.ts";
import { newJob, type RunContext, runRef } from "./run-context.ts";
import { beginUpdate, isEnding, type RunUpdate } from "./run-update.ts";
import { addStepJob } from "./start-run.ts";

/**
 * Saves an update, starts the steps that are ready, and ends the run when nothing is left to do.
 * @param finishResult the result of the run, if it was evaluated already
 * @returns whether the run has ended
 */
export async function advanceRun(
  context: RunContext,
  update: RunUpdate,
  finishResult?: FinishResult,
): Promise<boolean> {
  const { tx, run, compiled, seq } = update;
  if (run.stop?.undoing === true) return false;
  const stopping = run.stop !== null;
  let activeCount = 0;
  if (stopping || update.states.anyFailed()) {
    await cancelInactive(context, update);
    activeCount = await countActive(update);
  }
  const {
    states: stepStates,
    start,
    next,
  } = decide(compiled.graph, update.states, { stopping, activeCount });
  for (const position of start) await addStepJob(tx, run, compiled, position);
  const started = { status: "running" as const, startedAt: run.startedAt ?? iso(context.clock.now()) };
  switch (next) {
    case "continue":
      await tx.runs.update(run.id, { seq, stepStates, ...started });
      return false;
    case "wait":
      await tx.runs.update(run.id, { seq, stepStates, ...started, status: "waiting" });
      if (run.status !== "waiting") await recordWaiting(tx, run, iso(context.clock.now()));
      return false;
    case "finish":
      if (finishResult !== undefined)
        return finishUpdate(context, { ...update, states: stepStates }, finishResult);
      await tx.runs.update(run.id, { seq, stepStates, ...started });
      await tx.jobs.add(newJob(runRef(run.id), "finish", run.priority));
      return false;
    case "end": {
      const { stop } = run;
      const error = stop?.status === "failed" ? stop.error : await firstError(update);
      const end =
        stop?.status === "cancelled"
          ? { status: "cancelled" as const, error: null }
          : { status: "failed" as const, error };
      return concludeRun(context, { ...update, states: stepStates }, end);
    }
  }
}

/**
 * Stops a run: no step starts any more, and active attempts are aborted by their executors.
 * @returns whether this call stopped it, and whether it has ended
 */
export async function stopRun(
  context: RunContext,
  tx: EngineWriters,
  runId: string,
  stop: RunStop,
): Promise<{ stopped: boolean; ended: boolean }> {
  const update = await beginUpdate(context, tx, runId);
  if (update === undefined) return { stopped: false, ended: true };
  if (update.run.stop !== null) return { stopped: false, ended: false };
  update.run = { ...update.run, stop };
  await tx.runs.update(runId, { seq: update.seq, stop });
  return { stopped: true, ended: await advanceRun(context, update) };
}

/**
 * Ends a run that is stopping and has nothing active left. A job that ends without recording an outcome must call this,
 * because it may have been the last active one.
 */
export async function endIfStopping(context: RunContext, tx: EngineWriters, runId: string): Promise<void> {
  const update = await beginUpdate(context, tx, runId);
  if (update !== undefined && isEnding(update.run)) await advanceRun(context, update);
}

/** Cancels the jobs, approvals and (when the run was stopped) child runs of a run that is ending. */
async function cancelInactive({ clock }: RunContext, update: RunUpdate): Promise<void> {
  const { tx, run, compiled } = update;
  for (const ref of await tx.jobs.dropUnclaimed(run.id, { ended: false })) {
    const position = compiled.position.get(ref.stepId);
    if (position === undefined || ref.item !== null || update.states.at(position) !== "queued") continue;
    update.states = update.states.with(position, "cancelled");
  }
  if (await tx.approvals.cancelForRun(run.id, iso(clock.now()))) await announceEnds(tx, run);
  if (run.stop === null) return;
  for (const { ref, childRun } of await tx.runs.children(run.id)) {
    await tx.jobs.add(newJob(runRef(childRun), "cancel", run.priority));
    await tx.runs.saveStep(ref, { seq: update.seq, state: "cancelled", finishedAt: null });
    if (ref.item !== null) continue;
    update.states = update.states.with(compiled.position.get(ref.stepId)!, "cancelled");
  }
}

/** Counts the active attempts and child runs; cancels the fan-outs that have none. */
async function countActive(update: RunUpdate): Promise<number> {
  const { tx, run, compiled } = update;
  const claimed = await tx.jobs.claimedSteps(run.id);
  const children = run.stop === null ? await tx.runs.children(run.id) : [];
  const active = new Set([...claimed, ...children.map(({ ref }) => ref)].map(({ stepId }) => stepId));
  for (const position of update.states.positionsOf("running")) {
    if (active.has(compiled.definition.steps[position]!.id)) continue;
    update.states = update.states.with(position, "cancelled");
  }
  return claimed.length + children.length;
}

/** The error of the step that failed first. */
async function firstError({ tx, run, compiled, states }: RunUpdate): Promise<RunError | null> {
  const failed = states.positionsOf("failed").map((position) => compiled.definition.steps[position]!.id);
  const records = await Promise.all(
    failed.map((stepId) => tx.runs.step({ runId: run.id, stepId, item: null })),
  );
  const [earliest] = records
    .filter((record) => record !== undefined)
    .toSorted((a, b) => (a.finishedAt ?? "").localeCompare(b.finishedAt ?? ""));
  return earliest?.error ?? null;
}

/** Starts runs. A run is queued while its workflow has reached its number of concurrent runs. */
import type { Definition } from "../../../schemas/workflow-definition.ts";
import { iso } from "../../core/clock.ts";
import type { PreparedRun } from "../../core/engine-port.ts";
import type { RunRecord, StepRef } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import type { LockMode } from "../../core/transactions.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import { StepStates } from "../../core/step-states.ts";
import type { CompiledDefinition } from "../definition/compiled-definition.ts";
import { decide } from "./decide.ts";
import { ancestorsOf } from "./ancestors.ts";
import { correlationFields, newJob, newStepJob, type RunContext, runRef } from "./run-context.ts";
import { NO_SNAPSHOT, takeSnapshot } from "./workflow-state.ts";

/** Starts a run, and counts it for its owner. @throws AppError too_many_runs; nothing was written then */
export async function startRun(context: RunContext, tx: EngineWriters, run: PreparedRun): Promise<void> {
  await context.startLimits.count(tx, run);
  await insertRun(context, tx, run);
}

/** Inserts a run that is counted already, with the jobs of its first steps, or queues it. */
export async function insertRun(context: RunContext, tx: EngineWriters, run: PreparedRun): Promise<void> {
  const compiled = await context.definitionCache.get(run, tx.runs);
  if (run.workflowId !== null) await tx.runs.lockQueue(run.workflowId, queueLock(run, compiled));
  const admitted = await hasCapacity(tx, run, compiled);
  const pending = StepStates.allPending(compiled.definition.steps.length);
  const { states: stepStates, start } = admitted
    ? decide(compiled.graph, pending, { stopping: false, activeCount: 0 })
    : { states: pending, start: [] };
  const createdAt = iso(context.clock.now());
  const trace = context.spans.initialTrace(run);
  const snapshot = admitted ? await takeSnapshot(tx, run, compiled.definition) : NO_SNAPSHOT;
  await tx.runs.insert({ ...run, ...snapshot, trace, status: "queued", stepStates, admitted, createdAt });
  for (const position of start) await addStepJob(tx, run, compiled, position);
  // The trial of a backtest has the lowest priority, so it may be queued for longer than a run may take.
  if (compiled.timeoutMs !== null && run.replay === null) {
    const dueAt = iso(context.clock.now() + compiled.timeoutMs);
    await tx.jobs.add(newJob(runRef(run.id), "run_timeout", run.priority, { dueAt }));
  }
  const { id, workflowId, version, trigger } = run;
  tx.onCommit(() => {
    context.meter.runStarted(trigger);
    context.log.info(
      {
        workflow_id: workflowId,
        run_id: id,
        version,
        trigger,
        ...(run.isTrial && { trial: true }),
        status: "queued",
        ...correlationFields(context, tx, { ...run, trace }),
      },
      "run accepted",
    );
  });
}

/** Only a run that others limit, or that limits others, is counted. */
const queueLock = (
  run: Pick<RunRecord, "trigger" | "replay">,
  { definition }: CompiledDefinition,
): LockMode =>
  run.replay === null && (definition.concurrency !== undefined || queuesBehind(run, definition))
    ? "exclusive"
    : "shared";

const queuesBehind = ({ trigger }: Pick<RunRecord, "trigger">, { schedule }: Definition): boolean =>
  trigger === "schedule" && schedule?.overlap === "queue";

/** Admits the queued runs of a workflow that may start now, when one of its runs has ended: the next owners' first. */
export async function admitQueuedRuns(
  context: RunContext,
  tx: EngineWriters,
  ended: Pick<RunRecord, "workflowId" | "project" | "actor" | "trigger" | "replay">,
  endedDefinition: CompiledDefinition,
): Promise<void> {
  const { workflowId, project, replay } = ended;
  // Nothing waits for a replay.
  if (workflowId === null || replay !== null) return;
  let lock = queueLock(ended, endedDefinition);
  await tx.runs.lockQueue(workflowId, lock);
  for (let lastOwner = usageSubjectOf(ended.actor); ;) {
    const run = await tx.runs.nextQueued({ workflowId, project }, lastOwner);
    if (run === undefined) return;
    const compiled = await context.definitionCache.get(run, tx.runs);
    if (lock === "shared") {
      // What waits for scheduled runs only is not freed by the end of another one.
      if (compiled.definition.concurrency === undefined && ended.trigger !== "schedule") return;
      // A run of another version has no limit and ends while runs of this one are queued. Of two such ends the database may
      // abort one, which then runs again.
      await tx.runs.lockQueue(workflowId, (lock = "exclusive"));
    }
    lastOwner = usageSubjectOf(run.actor);
    if (!(await hasCapacity(tx, run, compiled))) return;
    const { states: stepStates, start } = decide(compiled.graph, run.stepStates, {
      stopping: false,
      activeCount: 0,
    });
    const snapshot = await takeSnapshot(tx, run, compiled.definition);
    await tx.runs.update(run.id, { seq: run.seq + 1, stepStates, admitted: true, ...snapshot });
    for (const position of start) await addStepJob(tx, run, compiled, position);
  }
}

/** Adds the job of a step's first attempt, or of the evaluation of its `for_each` or `repeat`. */
export const addStepJob = (
  tx: EngineWriters,
  run: Pick<RunRecord, "id" | "priority" | "replay">,
  compiled: CompiledDefinition,
  position: number,
): Promise<void> => {
  const { id, for_each: forEach, repeat } = compiled.definition.steps[position]!;
  const ref: StepRef = { runId: run.id, stepId: id, item: null };
  // Items and iterations use the resource and the rate, not the evaluation of a list or of a condition.
  return tx.jobs.add(
    forEach === undefined && repeat === undefined
      ? newStepJob(compiled, ref, run)
      : newJob(ref, "step", run.priority),
  );
};

/** Whether a run that starts now would not be queued. The queue of its workflow is locked. */
export const mayStartNow = async (
  context: Pick<RunContext, "definitionCache">,
  tx: EngineWriters,
  run: PreparedRun,
): Promise<boolean> => hasCapacity(tx, run, await context.definitionCache.get(run, tx.runs));

/** Whether `concurrency` and the schedule's `overlap` let the run start now. */
async function hasCapacity(
  tx: EngineWriters,
  run: Pick<RunRecord, "workflowId" | "project" | "trigger" | "parent" | "replay">,
  { definition }: CompiledDefinition,
): Promise<boolean> {
  // A single step limits no other one, and the trials of backtests neither limit the runs of the workflow nor are limited by them.
  const { workflowId, project } = run;
  if (workflowId === null || run.replay !== null) return true;
  const queue = { workflowId, project };
  const { concurrency } = definition;
  if (
    concurrency !== undefined &&
    (await tx.runs.countActive(queue)) >= concurrency &&
    !(await hasAncestorOfSameWorkflow(tx, run))
  ) {
    return false;
  }
  return !queuesBehind(run, definition) || (await tx.runs.countActive(queue, "schedule")) === 0;
}

/** Whether a run of the same workflow waits for this one. Queued behind that run, this one would never start. */
async function hasAncestorOfSameWorkflow(
  tx: EngineWriters,
  run: Pick<RunRecord, "workflowId" | "parent">,
): Promise<boolean> {
  for await (const ancestor of ancestorsOf(tx, run)) if (ancestor.workflowId === run.workflowId) return true;
  return false;
}

/**
 * How a run changes as a whole: each function is one change, inside one transaction, and leaves the run's state and its jobs in
 * step. Nothing here evaluates an expression or reaches beyond the store.
 */
import type { Logger } from "pino";
import type { RunError } from "../../../schemas/run.ts";
import { type Clock, iso } from "../../core/clock.ts";
import type { PreparedRun } from "../../core/engine-port.ts";
import type { Meter } from "../../core/meter.ts";
import {
  type EngineWriters,
  type AbandonedAttempt,
  type NewJob,
  type RunRecord,
  type RunStop,
  type StepRef,
} from "../../core/run-ports.ts";
import { StepStates } from "../../core/step-states.ts";
import { decide } from "./decide.ts";
import type { CompiledDefinition, DefinitionCache } from "../definition/compiled-definition.ts";
import type { Spans } from "./spans.ts";

/** What the changes stand on. */
export interface RunContext {
  clock: Clock;
  /** Told of every run that begins and ends, and of steps that fail. */
  log: Pick<Logger, "info" | "warn">;
  meter: Meter;
  spans: Spans;
  definitionCache: DefinitionCache;
}

/** A job at once, for the first time, unless `more` says otherwise. */
export const newJob = (
  unit: StepRef,
  kind: NewJob["kind"],
  priority: number,
  more: Partial<NewJob> = {},
): NewJob => ({
  ...unit,
  kind,
  priority,
  dueAt: null,
  resource: null,
  attempt: 1,
  retryCount: 0,
  ...more,
});

const ofRun = (runId: string): StepRef => ({ runId, stepId: "", item: null });

/** A run in the middle of a change. */
export interface RunUpdate {
  tx: EngineWriters;
  run: RunRecord;
  compiled: CompiledDefinition;
  seq: number;
  states: StepStates;
}

/**
 * Takes a run in: it is let in at once, or waits for its turn where its workflow bounds how many go on together.
 */
export async function startRun(mover: RunContext, tx: EngineWriters, run: PreparedRun): Promise<void> {
  const outline = await mover.definitionCache.get(run, tx.runs);
  await tx.runs.lockQueue(run.workflowId);
  const admitted = await hasRoom(tx, run, outline);
  const states = StepStates.allPending(outline.definition.steps.length);
  const createdAt = iso(mover.clock.now());
  const { states: begun, start } = admitted
    ? decide(outline.graph, states, { stopping: false, activeCount: 0 })
    : { states, start: [] };
  const trace = mover.spans.initialTrace(run);
  await tx.runs.insert({ ...run, trace, status: "queued", stepStates: begun, admitted, createdAt });
  for (const position of start) await addStep(tx, run, outline, position);
  if (outline.timeoutMs !== null) {
    const dueAt = iso(mover.clock.now() + outline.timeoutMs);
    await tx.jobs.add(newJob(ofRun(run.id), "run_timeout", run.priority, { dueAt }));
  }
  const { trigger } = run;
  tx.onCommit(() => {
    mover.meter.runStarted(trigger);
    const line = { workflow_id: run.workflowId, run_id: run.id, version: run.version, trigger };
    mover.log.info(
      { ...line, status: "queued", ...ofTrace(mover, { ...run, trace }), ...ofRequest(tx) },
      "run accepted",
    );
  });
}

/** The request that a change is part of, for its line in the log. */
const ofRequest = ({ requestId }: EngineWriters): { request_id?: string } =>
  requestId === null ? {} : { request_id: requestId };

const ofTrace = ({ spans }: RunContext, run: Parameters<Spans["traceId"]>[0]): { trace_id?: string } => {
  const id = spans.traceId(run);
  return id === undefined ? {} : { trace_id: id };
};

/** Whether one more run of the workflow may go on now. */
async function hasRoom(
  tx: EngineWriters,
  run: Pick<RunRecord, "workflowId" | "trigger" | "parent">,
  { definition }: CompiledDefinition,
): Promise<boolean> {
  const { concurrency, schedule } = definition;
  if (
    concurrency !== undefined &&
    (await tx.runs.countActive(run.workflowId)) >= concurrency &&
    !(await isWithin(tx, run))
  ) {
    return false;
  }
  const behind = run.trigger === "schedule" && schedule?.overlap === "queue";
  return !behind || (await tx.runs.countActive(run.workflowId, "schedule")) === 0;
}

/** Whether a run of the same workflow waits for this one: to make it wait in turn would be for ever. */
async function isWithin(tx: EngineWriters, run: Pick<RunRecord, "workflowId" | "parent">): Promise<boolean> {
  for (let { parent } = run; parent !== null;) {
    const above = await tx.runs.find(parent.runId);
    if (above === undefined) return false;
    if (above.workflowId === run.workflowId) return true;
    ({ parent } = above);
  }
  return false;
}

const addStep = (
  tx: EngineWriters,
  run: Pick<RunRecord, "id" | "priority">,
  { definition, resources }: CompiledDefinition,
  position: number,
): Promise<void> =>
  tx.jobs.add(
    newJob({ runId: run.id, stepId: definition.steps[position]!.id, item: null }, "step", run.priority, {
      resource: definition.steps[position]!.for_each === undefined ? resources[position]! : null,
    }),
  );

/** The run as it is, unless it has ended. */
export async function beginUpdate(
  mover: RunContext,
  tx: EngineWriters,
  runId: string,
): Promise<RunUpdate | undefined> {
  const run = await tx.runs.lock(runId);
  if (run === undefined || run.finishedAt !== null) return undefined;
  const compiled = await mover.definitionCache.get(run, tx.runs);
  return { tx, run, compiled, seq: run.seq + 1, states: run.stepStates };
}

/**
 * Asks the decider and does as it says.
 * @returns whether the run has ended
 */
export async function advanceRun(mover: RunContext, moving: RunUpdate): Promise<boolean> {
  const { tx, run, compiled, seq } = moving;
  const stopping = run.stop !== null;
  let activeCount = 0;
  if (stopping || moving.states.anyFailed()) {
    await dropWaiting(mover, moving);
    activeCount = await countUnderWay(moving);
  }
  const decision = decide(compiled.graph, moving.states, { stopping, activeCount });
  for (const position of decision.start) await addStep(tx, run, compiled, position);
  const { states: stepStates } = decision;
  const started = { status: "running" as const, startedAt: run.startedAt ?? iso(mover.clock.now()) };
  switch (decision.next) {
    case "continue":
      await tx.runs.update(run.id, { seq, stepStates, ...started });
      return false;
    case "wait":
      await tx.runs.update(run.id, { seq, stepStates, ...started, status: "waiting" });
      return false;
    case "finish":
      await tx.runs.update(run.id, { seq, stepStates, ...started });
      await tx.jobs.add(newJob(ofRun(run.id), "finish", run.priority));
      return false;
    case "end": {
      const { stop } = run;
      const error = stop?.status === "failed" ? stop.error : await firstError(moving);
      const cancelled = stop?.status === "cancelled";
      await endRun(mover, tx, run, {
        seq,
        states: stepStates,
        status: cancelled ? "cancelled" : "failed",
        error: cancelled ? null : error,
      });
      return true;
    }
  }
}

/** What has no attempt under way gets none any more. */
async function dropWaiting({ clock }: RunContext, moving: RunUpdate): Promise<void> {
  const { tx, run, compiled } = moving;
  for (const unit of await tx.jobs.dropUnclaimed(run.id, { ended: false })) {
    const position = compiled.position.get(unit.stepId);
    if (position === undefined || unit.item !== null || moving.states.at(position) !== "queued") continue;
    moving.states = moving.states.with(position, "cancelled");
  }
  // Nobody needs to decide any more.
  await tx.approvals.cancelForRun(run.id, iso(clock.now()));
  if (run.stop === null) return;
  // Who stops a run stops those that it started.
  for (const { unit, childRun } of await tx.runs.children(run.id)) {
    await tx.jobs.add(newJob(ofRun(childRun), "cancel", run.priority));
    await tx.runs.saveStep(unit, { seq: moving.seq, state: "cancelled", finishedAt: null });
    const position = compiled.position.get(unit.stepId)!;
    if (unit.item === null) moving.states = moving.states.with(position, "cancelled");
  }
}

/** Attempts and runs of other workflows that go on; a fan-out without any is over. */
async function countUnderWay(moving: RunUpdate): Promise<number> {
  const { tx, run, compiled } = moving;
  const claimed = await tx.jobs.claimedSteps(run.id);
  const children = run.stop === null ? await tx.runs.children(run.id) : [];
  const busy = new Set([...claimed, ...children.map((it) => it.unit)].map((unit) => unit.stepId));
  for (const { id } of compiled.definition.steps) {
    const position = compiled.position.get(id)!;
    if (moving.states.at(position) === "running" && !busy.has(id))
      moving.states = moving.states.with(position, "cancelled");
  }
  return claimed.length + children.length;
}

/** The error of the step that failed first. */
async function firstError({ tx, run, compiled, states }: RunUpdate): Promise<RunError | null> {
  const failed = compiled.definition.steps.filter((_, position) => states.at(position) === "failed");
  const records = await Promise.all(
    failed.map(({ id }) => tx.runs.step({ runId: run.id, stepId: id, item: null })),
  );
  const [first] = records
    .filter((it) => it !== undefined)
    .toSorted((a, b) => (a.finishedAt ?? "").localeCompare(b.finishedAt ?? ""));
  return first?.error ?? null;
}

/** How a run ends: its own row, whoever waits for it, and the next in line. */
async function endRun(
  mover: RunContext,
  tx: EngineWriters,
  run: RunRecord,
  end: {
    seq: number;
    states: StepStates;
    status: "succeeded" | "failed" | "cancelled";
    error: RunError | null;
    output?: unknown;
  },
): Promise<void> {
  const now = iso(mover.clock.now());
  const startedAt = run.startedAt ?? now;
  const { definition } = await mover.definitionCache.get(run, tx.runs);
  if (end.status !== "succeeded") {
    const left = await tx.runs.closeOpenSteps(run.id, now);
    await reportAbandoned(mover, tx, left, { status: "cancelled", at: now });
  }
  const { states: stepStates, ...ended } = end;
  await tx.runs.update(run.id, { ...ended, stepStates, finishedAt: now, startedAt });
  await tx.approvals.cancelForRun(run.id, now);
  await tx.jobs.dropUnclaimed(run.id, { ended: true });
  if (run.parent !== null) {
    await tx.jobs.add(newJob(run.parent, "child_done", run.priority));
  }
  if (end.status === "failed" && definition.on_failure !== undefined && run.trigger !== "on_failure") {
    await tx.jobs.add(newJob(ofRun(run.id), "on_failure", run.priority));
  }
  await admitNext(mover, tx, run.workflowId);
  const { status, error } = end;
  const retried = mover.spans.enabled && run.retryOf !== null ? await tx.runs.find(run.retryOf) : undefined;
  const ms = Date.parse(now) - Date.parse(run.createdAt);
  tx.onCommit(() => {
    const { id: run_id, workflowId: workflow_id, trigger } = run;
    mover.spans.recordRun(run, { status, startedAt, finishedAt: now, error }, retried);
    mover.meter.runEnded({ status, trigger, code: error?.code ?? null, seconds: ms / 1_000 });
    const why = error === null ? {} : { code: error.code, step_id: error.step_id };
    const whence = { ...ofTrace(mover, run), ...ofRequest(tx) };
    mover.log.info({ workflow_id, run_id, trigger, status, ms, ...why, ...whence }, `run ${status}`);
  });
}

/** Reports attempts that nobody is at any more, once that is committed. */
export async function reportAbandoned(
  { spans, definitionCache }: Pick<RunContext, "spans" | "definitionCache">,
  tx: EngineWriters,
  left: readonly AbandonedAttempt[],
  { status, at }: { status: "cancelled" | "interrupted"; at: string },
): Promise<void> {
  if (!spans.enabled) return;
  for (const unit of left) {
    const run = await tx.runs.find(unit.runId);
    if (run === undefined) continue;
    const { definition, position } = await definitionCache.get(run, tx.runs);
    const step = definition.steps[position.get(unit.stepId)!]!;
    const { attempt, startedAt } = unit;
    const ended = { attempt, status, startedAt, finishedAt: at, usage: null, error: null };
    tx.onCommit(() => spans.recordAttempt(run, step, unit, ended));
  }
}

/** Lets in what waited for a run of this workflow to end. */
async function admitNext(mover: RunContext, tx: EngineWriters, workflowId: string): Promise<void> {
  await tx.runs.lockQueue(workflowId);
  for (;;) {
    const run = await tx.runs.nextQueued(workflowId);
    if (run === undefined) return;
    const outline = await mover.definitionCache.get(run, tx.runs);
    if (!(await hasRoom(tx, run, outline))) return;
    const { states: stepStates, start } = decide(outline.graph, run.stepStates, {
      stopping: false,
      activeCount: 0,
    });
    await tx.runs.update(run.id, { seq: run.seq + 1, stepStates, admitted: true });
    for (const position of start) await addStep(tx, run, outline, position);
  }
}

/** Ends a run whose steps have all ended well. */
export async function finishRun(
  mover: RunContext,
  tx: EngineWriters,
  runId: string,
  result: { output: unknown } | { error: RunError },
): Promise<void> {
  const moving = await beginUpdate(mover, tx, runId);
  if (moving === undefined) return;
  const { run, seq, states } = moving;
  const end =
    "error" in result
      ? { status: "failed" as const, error: result.error }
      : { status: "succeeded" as const, error: null, output: result.output };
  // Stopped between its last step and its output.
  const stopped =
    run.stop === null
      ? undefined
      : { status: run.stop.status, error: run.stop.status === "failed" ? run.stop.error : null };
  await endRun(mover, tx, run, { seq, states, ...(stopped ?? end) });
}

/**
 * Stops a run: nothing starts any more, and what is under way is told to end.
 * @returns whether it was there to be stopped, and whether it has ended at once
 */
export async function stopRun(
  mover: RunContext,
  tx: EngineWriters,
  runId: string,
  stop: RunStop,
): Promise<{ stopped: boolean; ended: boolean }> {
  const moving = await beginUpdate(mover, tx, runId);
  if (moving === undefined) return { stopped: false, ended: true };
  if (moving.run.stop !== null) return { stopped: false, ended: false };
  moving.run = { ...moving.run, stop };
  await tx.runs.update(runId, { seq: moving.seq, stop });
  return { stopped: true, ended: await advanceRun(mover, moving) };
}

/**
 * Lets a run end that is only waiting for what was under way. Whoever ends a job without settling its unit says this:
 * nobody else would.
 */
export async function endIfStopping(mover: RunContext, tx: EngineWriters, runId: string): Promise<void> {
  const moving = await beginUpdate(mover, tx, runId);
  if (moving !== undefined && isEnding(moving.run)) await advanceRun(mover, moving);
}

/** Whether nothing may start in it any more: it was stopped, or a step failed for good. */
export const isEnding = (run: Pick<RunRecord, "stop" | "stepStates">): boolean =>
  run.stop !== null || run.stepStates.anyFailed();

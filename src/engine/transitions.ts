/**
 * How a run changes: each function is one change, inside one transaction, and leaves the run's state and its jobs in
 * step. Nothing here evaluates an expression or reaches beyond the store.
 */
import type { Logger } from "pino";
import type { RunError } from "../../schemas/run.ts";
import { type Clock, iso } from "../core/clock.ts";
import type { PreparedRun } from "../core/engine-port.ts";
import {
  CHUNK_ITEMS,
  type EngineWriters,
  type NewJob,
  NO_ITEM,
  type RunRecord,
  type RunStop,
  type StepRecord,
  type StepState,
  type Unit,
} from "../core/run-ports.ts";
import { decide } from "./decide.ts";
import type { Outline, Outlines } from "./outline.ts";

/** What the changes stand on. */
export interface Mover {
  clock: Clock;
  /** Told of every run that ends. */
  log: Pick<Logger, "info" | "warn">;
  outlines: Outlines;
}

/** How many items of a fan-out run at a time unless the step says so. */
const FAN_OUT = 4;
/** As many characters of JSON may the results of a fan-out hold together. */
const MAX_FAN_OUT_CHARS = 16 * 1024 * 1024;

const job = (unit: Unit, kind: NewJob["kind"], priority: number, more: Partial<NewJob> = {}): NewJob => ({
  ...unit,
  kind,
  priority,
  dueAt: null,
  resource: null,
  attempt: 1,
  tries: 1,
  ...more,
});

const ofRun = (runId: string): Unit => ({ runId, stepId: "", item: NO_ITEM });

/** A run in the middle of a change. */
interface Moving {
  tx: EngineWriters;
  run: RunRecord;
  outline: Outline;
  seq: number;
  states: string;
}

/**
 * Takes a run in: it is let in at once, or waits for its turn where its workflow bounds how many go on together.
 */
export async function startRun(mover: Mover, tx: EngineWriters, run: PreparedRun): Promise<void> {
  const outline = await mover.outlines.of(run, tx.runs);
  const admitted = await hasRoom(tx, run, outline);
  const states = "p".repeat(outline.definition.steps.length);
  const createdAt = iso(mover.clock.now());
  const { states: begun, start } = admitted
    ? decide(outline.graph, states, { stopping: false, underWay: 0 })
    : { states, start: [] };
  await tx.runs.insert({ ...run, status: "queued", states: begun, admitted, createdAt });
  for (const position of start) await addStep(tx, run, outline, position);
  if (outline.timeoutMs !== null) {
    const dueAt = iso(mover.clock.now() + outline.timeoutMs);
    await tx.jobs.add(job(ofRun(run.id), "run_timeout", run.priority, { dueAt }));
  }
}

/** Whether one more run of the workflow may go on now. */
async function hasRoom(
  tx: EngineWriters,
  run: Pick<RunRecord, "workflowId" | "trigger" | "parent">,
  { definition }: Outline,
): Promise<boolean> {
  const { concurrency, schedule } = definition;
  if (
    concurrency !== undefined &&
    (await tx.runs.active(run.workflowId)) >= concurrency &&
    !(await isWithin(tx, run))
  ) {
    return false;
  }
  const behind = run.trigger === "schedule" && schedule?.overlap === "queue";
  return !behind || (await tx.runs.active(run.workflowId, "schedule")) === 0;
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
  { definition, resources }: Outline,
  position: number,
): Promise<void> =>
  tx.jobs.add(
    job({ runId: run.id, stepId: definition.steps[position]!.id, item: NO_ITEM }, "step", run.priority, {
      resource: definition.steps[position]!.for_each === undefined ? resources[position]! : null,
    }),
  );

/** What became of a unit. */
export type UnitResult =
  | {
      kind: "succeeded";
      output: Record<string, unknown>;
      inputHash: string | null;
      reusedFrom?: string;
      cache?: { key: string; expiresAt: string };
    }
  | { kind: "skipped" }
  | { kind: "failed"; error: RunError }
  | { kind: "cancelled" }
  | { kind: "fan_out"; items: readonly unknown[] }
  | { kind: "wait"; until: string; inputHash: string }
  | {
      kind: "approval";
      inputHash: string;
      approval: { id: string; message: string; form: Record<string, unknown> | null; assignees: string[] };
      expiresAt: string | null;
    }
  /** `until`: when it is no longer waited for. */
  | { kind: "child"; inputHash: string; run: PreparedRun; until: string | null };

const BEGINNINGS: ReadonlySet<UnitResult["kind"]> = new Set(["child", "wait", "approval", "fan_out"]);

interface UnitTimes {
  startedAt: string;
  finishedAt: string;
  attempts: number;
}

/**
 * Writes down what became of a unit, and moves its run along.
 * @returns whether the run has ended
 */
export async function settleUnit(
  mover: Mover,
  tx: EngineWriters,
  unit: Unit,
  wanted: UnitResult,
  times: UnitTimes,
): Promise<{ ended: boolean }> {
  const moving = await begin(mover, tx, unit.runId);
  if (moving === undefined) return { ended: true };
  const { run } = moving;
  // What would only begin does not, where nothing may.
  const result: UnitResult = isEnding(run) && BEGINNINGS.has(wanted.kind) ? { kind: "cancelled" } : wanted;
  const status = run.status === "queued" ? { status: "running" as const, startedAt: times.startedAt } : {};
  moving.run = { ...run, ...status };
  const position = moving.outline.position.get(unit.stepId)!;
  if (unit.item === NO_ITEM) {
    const state = await settleStep(mover, moving, unit, position, result, times);
    moving.states = withState(moving.states, position, state);
  } else {
    await settleItem(mover, moving, unit, position, result, times);
  }
  return { ended: await move(mover, moving) };
}

/** The run as it is, unless it has ended. */
async function begin(mover: Mover, tx: EngineWriters, runId: string): Promise<Moving | undefined> {
  const run = await tx.runs.find(runId);
  if (run === undefined || run.finishedAt !== null) return undefined;
  const outline = await mover.outlines.of(run, tx.runs);
  return { tx, run, outline, seq: run.seq + 1, states: run.states };
}

const withState = (states: string, position: number, state: StepState): string =>
  states.slice(0, position) + state + states.slice(position + 1);

/** Writes what became of a step itself; gives where it is now. */
async function settleStep(
  mover: Mover,
  moving: Moving,
  unit: Unit,
  position: number,
  result: UnitResult,
  times: UnitTimes,
): Promise<StepState> {
  const { tx, outline, seq } = moving;
  const step = outline.definition.steps[position]!;
  if (result.kind === "fan_out") {
    const { items } = result;
    for (let chunk = 0; chunk * CHUNK_ITEMS < items.length; chunk += 1) {
      const part = items.slice(chunk * CHUNK_ITEMS, (chunk + 1) * CHUNK_ITEMS);
      await tx.runs.saveChunk(unit, chunk, part);
    }
    const started = Math.min(items.length, step.concurrency ?? FAN_OUT);
    for (let item = 0; item < started; item += 1) await addItem(moving, unit.stepId, position, item);
    const empty = items.length === 0;
    await tx.runs.saveStep(unit, {
      seq,
      state: empty ? "s" : "r",
      startedAt: times.startedAt,
      ...(empty && { finishedAt: times.finishedAt }),
      items: { total: items.length, started, done: 0, failed: 0, bytes: 0 },
    });
    return empty ? "s" : "r";
  }
  const state = await saveUnit(mover, moving, unit, step.on_error === "continue", result, times);
  return state;
}

const addItem = (
  { tx, run, outline }: Moving,
  stepId: string,
  position: number,
  item: number,
): Promise<void> =>
  tx.jobs.add(
    job({ runId: run.id, stepId, item }, "step", run.priority, { resource: outline.resources[position]! }),
  );

/** Writes what became of one unit, a step or an item; gives its state. */
async function saveUnit(
  mover: Mover,
  { tx, run, seq }: Moving,
  unit: Unit,
  goesOn: boolean,
  result: Exclude<UnitResult, { kind: "fan_out" }>,
  times: UnitTimes,
): Promise<StepState> {
  const common = { seq, startedAt: times.startedAt, attempts: times.attempts };
  const ended = { ...common, finishedAt: times.finishedAt };
  switch (result.kind) {
    case "succeeded":
      await tx.runs.saveStep(unit, {
        ...ended,
        state: "s",
        output: result.output,
        inputHash: result.inputHash,
        ...(result.reusedFrom !== undefined && { reusedFrom: result.reusedFrom }),
      });
      if (result.cache !== undefined) {
        await tx.runs.saveCached(result.cache.key, result.cache.expiresAt, result.output);
      }
      return "s";
    case "skipped":
      await tx.runs.saveStep(unit, { ...ended, state: "k" });
      return "k";
    case "failed": {
      const state = goesOn ? "e" : "f";
      await tx.runs.saveStep(unit, { ...ended, state, error: result.error });
      return state;
    }
    case "cancelled":
      await tx.runs.saveStep(unit, { ...ended, state: "c" });
      return "c";
    case "wait":
      await tx.jobs.add(job(unit, "wake", run.priority, { dueAt: result.until, attempt: times.attempts }));
      await tx.runs.saveStep(unit, {
        ...common,
        state: "w",
        waitUntil: result.until,
        inputHash: result.inputHash,
      });
      return "w";
    case "approval": {
      const { approval, expiresAt } = result;
      await tx.approvals.insert({
        ...unit,
        ...approval,
        workflowId: run.workflowId,
        status: "pending",
        createdAt: iso(mover.clock.now()),
        expiresAt,
        decidedAt: null,
        decidedBy: null,
        comment: null,
        answer: null,
      });
      if (expiresAt !== null) {
        await tx.jobs.add(job(unit, "wake", run.priority, { dueAt: expiresAt, attempt: times.attempts }));
      }
      if (approval.assignees.length > 0) await tx.jobs.add(job(unit, "notify", run.priority));
      await tx.runs.saveStep(unit, {
        ...common,
        state: "w",
        waitUntil: expiresAt,
        inputHash: result.inputHash,
      });
      return "w";
    }
    case "child":
      await startRun(mover, tx, result.run);
      if (result.until !== null) {
        await tx.jobs.add(job(unit, "wake", run.priority, { dueAt: result.until, attempt: times.attempts }));
      }
      await tx.runs.saveStep(unit, {
        ...common,
        state: "r",
        childRun: result.run.id,
        inputHash: result.inputHash,
      });
      return "r";
  }
}

/** Writes what became of one item, and lets the next one start; ends the fan-out when it was the last. */
async function settleItem(
  mover: Mover,
  moving: Moving,
  unit: Unit,
  position: number,
  result: UnitResult,
  times: UnitTimes,
): Promise<void> {
  if (result.kind === "fan_out") throw new Error("an item can't fan out");
  const { tx, outline, seq } = moving;
  const whole: Unit = { ...unit, item: NO_ITEM };
  const { on_error: onError } = outline.definition.steps[position]!;
  const state = await saveUnit(mover, moving, unit, onError === "continue", result, times);
  const before = (await tx.runs.step(whole))!;
  const items = before.items!;
  if (state === "w" || state === "r") {
    // A fan-out of which only waits and approvals are left waits itself.
    const busy = state === "r" || (await isBusy(tx, unit));
    const shown: StepState = busy ? "r" : "w";
    await tx.runs.saveStep(whole, { seq, state: shown });
    moving.states = withState(moving.states, position, shown);
    return;
  }
  items.done += 1;
  if (state === "f" || state === "e") items.failed += 1;
  if (result.kind === "succeeded") items.bytes += JSON.stringify(result.output).length;
  const stopping = moving.run.stop !== null || moving.states.includes("f");
  const tooLarge = items.bytes > MAX_FAN_OUT_CHARS;
  const failed = state === "f" || tooLarge;
  const fields: Partial<StepRecord> & { state: StepState } = { state: "r" };
  if (failed && !stopping) {
    fields.state = "f";
    fields.finishedAt = times.finishedAt;
    fields.error = tooLarge
      ? fanOutTooLarge(unit.stepId, items.bytes)
      : { ...(result as { error: RunError }).error, item: unit.item };
  } else if (items.done === items.total) {
    // One that failed while the run was ending already is a failure all the same.
    const broken = items.failed > 0 && onError !== "continue";
    fields.state = broken ? "f" : state === "c" ? "c" : "s";
    fields.finishedAt = times.finishedAt;
    if (broken && result.kind === "failed") fields.error = { ...result.error, item: unit.item };
  } else if (!stopping && items.started < items.total) {
    await addItem(moving, unit.stepId, position, items.started);
    items.started += 1;
  }
  if (fields.state === "r" && !(await isBusy(tx, unit))) fields.state = "w";
  // A fan-out that has failed already stays failed while the rest of its items end.
  if (moving.states[position] === "f" || moving.states[position] === "c")
    fields.state = moving.states[position] as StepState;
  await tx.runs.saveStep(whole, { ...fields, seq, items });
  moving.states = withState(moving.states, position, fields.state);
}

/** Whether attempts of a fan-out are under way or to come, or runs of other workflows. */
const isBusy = async (tx: EngineWriters, { runId, stepId }: Unit): Promise<boolean> =>
  (await tx.jobs.hasStep(runId, stepId)) ||
  (await tx.runs.children(runId)).some(({ unit }) => unit.stepId === stepId);

const fanOutTooLarge = (stepId: string, chars: number): RunError => ({
  code: "output_too_large",
  message: `The results of "${stepId}" came to ${chars} characters of JSON; at most ${MAX_FAN_OUT_CHARS} are kept.`,
  fix: "Give less per item, or work on fewer items.",
  step_id: stepId,
});

/** Asks the decider and does as it says. @returns whether the run has ended */
async function move(mover: Mover, moving: Moving): Promise<boolean> {
  const { tx, run, outline, seq } = moving;
  const stopping = run.stop !== null;
  let underWay = 0;
  if (stopping || moving.states.includes("f")) {
    await dropWaiting(mover, moving);
    underWay = await countUnderWay(moving);
  }
  const decision = decide(outline.graph, moving.states, { stopping, underWay });
  for (const position of decision.start) await addStep(tx, run, outline, position);
  const { states } = decision;
  const started = { status: "running" as const, startedAt: run.startedAt ?? iso(mover.clock.now()) };
  switch (decision.next) {
    case "go_on":
      await tx.runs.update(run.id, { seq, states, ...started });
      return false;
    case "wait":
      await tx.runs.update(run.id, { seq, states, ...started, status: "waiting" });
      return false;
    case "finish":
      await tx.runs.update(run.id, { seq, states, ...started });
      await tx.jobs.add(job(ofRun(run.id), "finish", run.priority));
      return false;
    case "end": {
      const { stop } = run;
      const error = stop?.status === "failed" ? stop.error : await firstError(moving);
      const cancelled = stop?.status === "cancelled";
      await endRun(mover, tx, run, {
        seq,
        states,
        status: cancelled ? "cancelled" : "failed",
        error: cancelled ? null : error,
      });
      return true;
    }
  }
}

/** What has no attempt under way gets none any more. */
async function dropWaiting({ clock }: Mover, moving: Moving): Promise<void> {
  const { tx, run, outline } = moving;
  for (const unit of await tx.jobs.dropUnclaimed(run.id, { ended: false })) {
    const position = outline.position.get(unit.stepId);
    if (position === undefined || unit.item !== NO_ITEM || moving.states[position] !== "q") continue;
    moving.states = withState(moving.states, position, "c");
  }
  // Nobody needs to decide any more.
  await tx.approvals.cancelOfRun(run.id, iso(clock.now()));
  if (run.stop === null) return;
  // Who stops a run stops those that it started.
  for (const { unit, childRun } of await tx.runs.children(run.id)) {
    await tx.jobs.add(job(ofRun(childRun), "cancel", run.priority));
    await tx.runs.saveStep(unit, { seq: moving.seq, state: "c", finishedAt: null });
    const position = outline.position.get(unit.stepId)!;
    if (unit.item === NO_ITEM) moving.states = withState(moving.states, position, "c");
  }
}

/** Attempts and runs of other workflows that go on; a fan-out without any is over. */
async function countUnderWay(moving: Moving): Promise<number> {
  const { tx, run, outline } = moving;
  const claimed = await tx.jobs.claimedOf(run.id);
  const children = run.stop === null ? await tx.runs.children(run.id) : [];
  const busy = new Set([...claimed, ...children.map((it) => it.unit)].map((unit) => unit.stepId));
  for (const { id } of outline.definition.steps) {
    const position = outline.position.get(id)!;
    if (moving.states[position] === "r" && !busy.has(id))
      moving.states = withState(moving.states, position, "c");
  }
  return claimed.length + children.length;
}

/** The error of the step that failed first. */
async function firstError({ tx, run, outline, states }: Moving): Promise<RunError | null> {
  const failed = outline.definition.steps.filter((_, position) => states[position] === "f");
  const records = await Promise.all(
    failed.map(({ id }) => tx.runs.step({ runId: run.id, stepId: id, item: NO_ITEM })),
  );
  const [first] = records
    .filter((it) => it !== undefined)
    .toSorted((a, b) => (a.finishedAt ?? "").localeCompare(b.finishedAt ?? ""));
  return first?.error ?? null;
}

/** How a run ends: its own row, whoever waits for it, and the next in line. */
async function endRun(
  mover: Mover,
  tx: EngineWriters,
  run: RunRecord,
  end: {
    seq: number;
    states: string;
    status: "succeeded" | "failed" | "cancelled";
    error: RunError | null;
    output?: unknown;
  },
): Promise<void> {
  const now = iso(mover.clock.now());
  const { definition } = await mover.outlines.of(run, tx.runs);
  if (end.status !== "succeeded") await tx.runs.closeOpen(run.id, now);
  await tx.runs.update(run.id, { ...end, finishedAt: now, startedAt: run.startedAt ?? now });
  await tx.approvals.cancelOfRun(run.id, now);
  await tx.jobs.dropUnclaimed(run.id, { ended: true });
  if (run.parent !== null) {
    await tx.jobs.add(job(run.parent, "child_done", run.priority));
  }
  if (end.status === "failed" && definition.on_failure !== undefined && run.trigger !== "on_failure") {
    await tx.jobs.add(job(ofRun(run.id), "on_failure", run.priority));
  }
  await admitNext(mover, tx, run.workflowId);
  const line = { run: run.id, workflow: run.workflowId, trigger: run.trigger, status: end.status };
  if (end.error === null) mover.log.info(line, `run ${end.status}`);
  else mover.log.warn({ ...line, code: end.error.code, step: end.error.step_id }, "run failed");
}

/** Lets in what waited for a run of this workflow to end. */
async function admitNext(mover: Mover, tx: EngineWriters, workflowId: string): Promise<void> {
  for (;;) {
    const run = await tx.runs.nextWaiting(workflowId);
    if (run === undefined) return;
    const outline = await mover.outlines.of(run, tx.runs);
    if (!(await hasRoom(tx, run, outline))) return;
    const { states, start } = decide(outline.graph, run.states, { stopping: false, underWay: 0 });
    await tx.runs.update(run.id, { seq: run.seq + 1, states, admitted: true });
    for (const position of start) await addStep(tx, run, outline, position);
  }
}

/** Ends a run whose steps have all ended well. */
export async function finishRun(
  mover: Mover,
  tx: EngineWriters,
  runId: string,
  result: { output: unknown } | { error: RunError },
): Promise<void> {
  const moving = await begin(mover, tx, runId);
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
  mover: Mover,
  tx: EngineWriters,
  runId: string,
  stop: RunStop,
): Promise<{ stopped: boolean; ended: boolean }> {
  const moving = await begin(mover, tx, runId);
  if (moving === undefined) return { stopped: false, ended: true };
  if (moving.run.stop !== null) return { stopped: false, ended: false };
  moving.run = { ...moving.run, stop };
  await tx.runs.update(runId, { seq: moving.seq, stop });
  return { stopped: true, ended: await move(mover, moving) };
}

/**
 * Lets a run end that is only waiting for what was under way. Whoever ends a job without settling its unit says this:
 * nobody else would.
 */
export async function moveOn(mover: Mover, tx: EngineWriters, runId: string): Promise<void> {
  const moving = await begin(mover, tx, runId);
  if (moving !== undefined && isEnding(moving.run)) await move(mover, moving);
}

/** Whether nothing may start in it any more: it was stopped, or a step failed for good. */
export const isEnding = (run: Pick<RunRecord, "stop" | "states">): boolean =>
  run.stop !== null || run.states.includes("f");

/** Says that a unit which waited for another run has a job again. */
export async function requeueUnit(mover: Mover, tx: EngineWriters, unit: Unit): Promise<void> {
  const moving = await begin(mover, tx, unit.runId);
  if (moving === undefined) return;
  await tx.runs.saveStep(unit, { seq: moving.seq, state: "q", childRun: null });
  if (unit.item === NO_ITEM) {
    moving.states = withState(moving.states, moving.outline.position.get(unit.stepId)!, "q");
  }
  await move(mover, moving);
}

/** Says that an attempt has begun, before it has any effect. @returns false where it may not: the run is ending */
export async function beginAttempt(
  mover: Mover,
  tx: EngineWriters,
  unit: Unit,
  attempt: { attempt: number; executor: string; startedAt: string; input: unknown },
): Promise<boolean> {
  const run = (await tx.runs.find(unit.runId))!;
  if (isEnding(run) || run.finishedAt !== null) return false;
  const seq = run.seq + 1;
  await tx.runs.update(unit.runId, {
    seq,
    ...(run.status !== "running" && { status: "running" as const }),
    ...(run.startedAt === null && { startedAt: attempt.startedAt }),
  });
  await tx.runs.saveStep(unit, {
    seq,
    state: "q",
    attempts: attempt.attempt,
    startedAt: attempt.startedAt,
  });
  await tx.runs.saveAttempt(unit, {
    ...attempt,
    status: "running",
    finishedAt: null,
    usage: null,
    error: null,
  });
  return true;
}

/** What became of a step, or of an item of its fan-out: written down in the transaction that moves the run along. */
import type { RunError } from "../../../schemas/run.ts";
import { iso } from "../../core/clock.ts";
import type { PreparedRun } from "../../core/engine-port.ts";
import { CHUNK_ITEMS, type EngineWriters, type StepRecord, type StepRef } from "../../core/run-ports.ts";
import type { StepState } from "../../core/step-states.ts";
import {
  beginUpdate,
  isEnding,
  newJob,
  advanceRun,
  type RunContext,
  type RunUpdate,
  startRun,
} from "./transitions.ts";

/** How many items of a fan-out run at a time unless the step says so. */
const FAN_OUT = 4;
/** As many characters of JSON may the results of a fan-out hold together. */
const MAX_FAN_OUT_CHARS = 16 * 1024 * 1024;

/** What became of a unit. */
export type StepResult =
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

const BEGINNINGS: ReadonlySet<StepResult["kind"]> = new Set(["child", "wait", "approval", "fan_out"]);

interface StepTimes {
  startedAt: string;
  finishedAt: string;
  attempts: number;
}

/**
 * Writes down what became of a unit, and moves its run along.
 * @returns whether the run has ended
 */
export async function recordOutcome(
  mover: RunContext,
  tx: EngineWriters,
  unit: StepRef,
  wanted: StepResult,
  times: StepTimes,
): Promise<{ ended: boolean }> {
  const moving = await beginUpdate(mover, tx, unit.runId);
  if (moving === undefined) return { ended: true };
  const { run } = moving;
  // What would only begin does not, where nothing may.
  const result: StepResult = isEnding(run) && BEGINNINGS.has(wanted.kind) ? { kind: "cancelled" } : wanted;
  const status = run.status === "queued" ? { status: "running" as const, startedAt: times.startedAt } : {};
  moving.run = { ...run, ...status };
  const position = moving.compiled.position.get(unit.stepId)!;
  if (unit.item === null) {
    const state = await settleStep(mover, moving, unit, position, result, times);
    moving.states = moving.states.with(position, state);
  } else {
    await settleItem(mover, moving, { ...unit, item: unit.item }, position, result, times);
  }
  return { ended: await advanceRun(mover, moving) };
}

/** Writes what became of a step itself; gives where it is now. */
async function settleStep(
  mover: RunContext,
  moving: RunUpdate,
  unit: StepRef,
  position: number,
  result: StepResult,
  times: StepTimes,
): Promise<StepState> {
  const { tx, compiled, seq } = moving;
  const step = compiled.definition.steps[position]!;
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
      state: empty ? "succeeded" : "running",
      startedAt: times.startedAt,
      ...(empty && { finishedAt: times.finishedAt }),
      items: { total: items.length, started, done: 0, failed: 0, bytes: 0 },
    });
    return empty ? "succeeded" : "running";
  }
  const state = await saveUnit(mover, moving, unit, step.on_error === "continue", result, times);
  return state;
}

const addItem = (
  { tx, run, compiled }: RunUpdate,
  stepId: string,
  position: number,
  item: number,
): Promise<void> =>
  tx.jobs.add(
    newJob({ runId: run.id, stepId, item }, "step", run.priority, {
      resource: compiled.resources[position]!,
    }),
  );

/** Writes what became of one unit, a step or an item; gives its state. */
async function saveUnit(
  mover: RunContext,
  { tx, run, seq }: RunUpdate,
  unit: StepRef,
  goesOn: boolean,
  result: Exclude<StepResult, { kind: "fan_out" }>,
  times: StepTimes,
): Promise<StepState> {
  const common = { seq, startedAt: times.startedAt, attempts: times.attempts };
  const ended = { ...common, finishedAt: times.finishedAt };
  switch (result.kind) {
    case "succeeded":
      await tx.runs.saveStep(unit, {
        ...ended,
        state: "succeeded",
        output: result.output,
        inputHash: result.inputHash,
        ...(result.reusedFrom !== undefined && { reusedFrom: result.reusedFrom }),
      });
      if (result.cache !== undefined) {
        await tx.runs.saveCachedOutput(result.cache.key, result.cache.expiresAt, result.output);
      }
      return "succeeded";
    case "skipped":
      await tx.runs.saveStep(unit, { ...ended, state: "skipped" });
      return "skipped";
    case "failed": {
      const state = goesOn ? "failed_continued" : "failed";
      await tx.runs.saveStep(unit, { ...ended, state, error: result.error });
      return state;
    }
    case "cancelled":
      await tx.runs.saveStep(unit, { ...ended, state: "cancelled" });
      return "cancelled";
    case "wait":
      await tx.jobs.add(newJob(unit, "wake", run.priority, { dueAt: result.until, attempt: times.attempts }));
      await tx.runs.saveStep(unit, {
        ...common,
        state: "waiting",
        waitUntil: result.until,
        inputHash: result.inputHash,
      });
      return "waiting";
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
        await tx.jobs.add(newJob(unit, "wake", run.priority, { dueAt: expiresAt, attempt: times.attempts }));
      }
      if (approval.assignees.length > 0) await tx.jobs.add(newJob(unit, "notify", run.priority));
      await tx.runs.saveStep(unit, {
        ...common,
        state: "waiting",
        waitUntil: expiresAt,
        inputHash: result.inputHash,
      });
      return "waiting";
    }
    case "child":
      await startRun(mover, tx, result.run);
      if (result.until !== null) {
        await tx.jobs.add(
          newJob(unit, "wake", run.priority, { dueAt: result.until, attempt: times.attempts }),
        );
      }
      await tx.runs.saveStep(unit, {
        ...common,
        state: "running",
        childRun: result.run.id,
        inputHash: result.inputHash,
      });
      return "running";
  }
}

/** Writes what became of one item, and lets the next one start; ends the fan-out when it was the last. */
async function settleItem(
  mover: RunContext,
  moving: RunUpdate,
  unit: StepRef & { item: number },
  position: number,
  result: StepResult,
  times: StepTimes,
): Promise<void> {
  if (result.kind === "fan_out") throw new Error("an item can't fan out");
  const { tx, compiled, seq } = moving;
  const whole: StepRef = { ...unit, item: null };
  const { on_error: onError } = compiled.definition.steps[position]!;
  const state = await saveUnit(mover, moving, unit, onError === "continue", result, times);
  const before = (await tx.runs.step(whole))!;
  const items = before.items!;
  if (state === "waiting" || state === "running") {
    // A fan-out of which only waits and approvals are left waits itself.
    const busy = state === "running" || (await isBusy(tx, unit));
    const shown: StepState = busy ? "running" : "waiting";
    await tx.runs.saveStep(whole, { seq, state: shown });
    moving.states = moving.states.with(position, shown);
    return;
  }
  items.done += 1;
  if (state === "failed" || state === "failed_continued") items.failed += 1;
  if (result.kind === "succeeded") items.bytes += JSON.stringify(result.output).length;
  const stopping = moving.run.stop !== null || moving.states.anyFailed();
  const tooLarge = items.bytes > MAX_FAN_OUT_CHARS;
  const failed = state === "failed" || tooLarge;
  const fields: Partial<StepRecord> & { state: StepState } = { state: "running" };
  if (failed && !stopping) {
    fields.state = "failed";
    fields.finishedAt = times.finishedAt;
    fields.error = tooLarge
      ? fanOutTooLarge(unit.stepId, items.bytes)
      : { ...(result as { error: RunError }).error, item: unit.item };
  } else if (items.done === items.total) {
    // One that failed while the run was ending already is a failure all the same.
    const broken = items.failed > 0 && onError !== "continue";
    fields.state = broken ? "failed" : state === "cancelled" ? "cancelled" : "succeeded";
    fields.finishedAt = times.finishedAt;
    if (broken && result.kind === "failed") fields.error = { ...result.error, item: unit.item };
  } else if (!stopping && items.started < items.total) {
    await addItem(moving, unit.stepId, position, items.started);
    items.started += 1;
  }
  if (fields.state === "running" && !(await isBusy(tx, unit))) fields.state = "waiting";
  // A fan-out that has failed already stays failed while the rest of its items end.
  const previous = moving.states.at(position);
  if (previous === "failed" || previous === "cancelled") fields.state = previous;
  await tx.runs.saveStep(whole, { ...fields, seq, items });
  moving.states = moving.states.with(position, fields.state);
}

/** Whether attempts of a fan-out are under way or to come, or runs of other workflows. */
const isBusy = async (tx: EngineWriters, { runId, stepId }: StepRef): Promise<boolean> =>
  (await tx.jobs.hasJobForStep(runId, stepId)) ||
  (await tx.runs.children(runId)).some(({ unit }) => unit.stepId === stepId);

const fanOutTooLarge = (stepId: string, chars: number): RunError => ({
  code: "output_too_large",
  message: `The results of "${stepId}" came to ${chars} characters of JSON; at most ${MAX_FAN_OUT_CHARS} are kept.`,
  fix: "Give less per item, or work on fewer items.",
  step_id: stepId,
});

/** Says that a unit which waited for another run has a job again. */
export async function requeueStep(mover: RunContext, tx: EngineWriters, unit: StepRef): Promise<void> {
  const moving = await beginUpdate(mover, tx, unit.runId);
  if (moving === undefined) return;
  await tx.runs.saveStep(unit, { seq: moving.seq, state: "queued", childRun: null });
  if (unit.item === null) {
    moving.states = moving.states.with(moving.compiled.position.get(unit.stepId)!, "queued");
  }
  await advanceRun(mover, moving);
}

/**
 * Says that an attempt has begun, before it has any effect.
 * @returns false where it may not: the run is ending
 */
export async function recordAttemptStart(
  tx: EngineWriters,
  unit: StepRef,
  attempt: { attempt: number; executor: string; startedAt: string; input: unknown },
): Promise<boolean> {
  const run = (await tx.runs.lock(unit.runId))!;
  if (isEnding(run) || run.finishedAt !== null) return false;
  const seq = run.seq + 1;
  await tx.runs.update(unit.runId, {
    seq,
    ...(run.status !== "running" && { status: "running" as const }),
    ...(run.startedAt === null && { startedAt: attempt.startedAt }),
  });
  await tx.runs.saveStep(unit, {
    seq,
    state: "queued",
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

/**
 * Starts the runs of backfills, in order. Any executor may start the next one: the row of the backfill is locked meanwhile, and
 * says which time comes next, so a backfill survives the end of every process, and no time starts twice.
 *
 * A backfill waits, and skips nothing, while its workflow has reached its number of concurrent runs, or its owner a limit:
 * other runs go first.
 */
import type { Logger } from "pino";
import type { Definition } from "../../../schemas/workflow-definition.ts";
import { type BackfillRecord, isBackfillDone } from "../../core/backfill-ports.ts";
import { isAgreed, iso } from "../../core/clock.ts";
import type { PreparedRun } from "../../core/engine-port.ts";
import { AppError, isStorageUnavailable } from "../../core/errors.ts";
import { BACKFILL_PRIORITY } from "../../core/model.ts";
import { oneAtATime } from "../../core/once-per.ts";
import type { EngineReaders, EngineTransaction, EngineWriters, RunReader } from "../../core/run-ports.ts";
import { StepError } from "../../core/step-errors.ts";
import type { PrepareRun } from "./prepare-run.ts";
import type { RunContext } from "./run-context.ts";
import type { SchedulePolicy } from "./schedule-policy.ts";
import { scheduledInputs } from "./scheduled-inputs.ts";
import { mayStartNow, startRun } from "./start-run.ts";

/** Backfills processed per poll. */
const BATCH_SIZE = 20;
/** Maximum number of times that are skipped in one transaction. */
const MAX_SKIPPED = 200;
/** Maximum length of a recorded message, in characters. */
const MAX_MESSAGE_CHARS = 500;

interface Options {
  context: RunContext;
  read: EngineReaders;
  runs: Pick<RunReader, "versionDefinition">;
  transaction: EngineTransaction;
  prepareRun: PrepareRun;
  policy: SchedulePolicy;
  parse(definition: Record<string, unknown>): Definition;
  log: Logger;
}

export interface Backfiller {
  /** Starts the runs that may start now. Safe to call from any number of executors at a time. @returns how many it started */
  startRuns(): Promise<number>;
  /** Whether the last call found a backfill that is running. */
  isActive(): boolean;
}

/** What a step of a backfill has done: `started` and `skipped` go on with the next time. */
type Progress = "started" | "skipped" | "waits";

export function backfiller(options: Options): Backfiller {
  const { context, read, transaction, log } = options;
  let again = false;
  let active = false;

  return { isActive: () => active, startRuns: oneAtATime(poll) };

  async function poll(): Promise<number> {
    let count = 0;
    do {
      again = false;
      // With a wrong clock the other executors start them.
      if (!isAgreed(context.clock)) return count;
      const running = await read.backfills.running(BATCH_SIZE);
      active = running.length > 0;
      for (const backfill of running) count += await continueOrLog(backfill);
    } while (again);
    return count;
  }

  /** A backfill that fails does not delay the others. When the store is unavailable all of them fail. */
  async function continueOrLog(backfill: BackfillRecord): Promise<number> {
    try {
      return await startNextRuns(backfill);
    } catch (err) {
      if (isStorageUnavailable(err)) throw err;
      log.warn({ err, workflow_id: backfill.workflowId, backfill: backfill.id }, "backfill check failed");
      return 0;
    }
  }

  async function startNextRuns(backfill: BackfillRecord): Promise<number> {
    let count = 0;
    // A bound, because several of its runs can end meanwhile: then the other backfills come first.
    for (let turns = 0; turns <= backfill.concurrency; turns += 1) {
      const current = turns === 0 ? backfill : await read.backfills.find(backfill.id);
      if (current?.status !== "running") return count;
      const progress = await handleNextTime(current);
      if (progress === "waits") return count;
      if (progress === "started") count += 1;
    }
    again = true;
    return count;
  }

  async function handleNextTime(backfill: BackfillRecord): Promise<Progress> {
    const { id, nextAt: time } = backfill;
    const unfinished = await read.backfills.unfinishedRuns(id);
    if (time === null) {
      if (unfinished.length === 0) await end(backfill, "finished", null);
      return "waits";
    }
    if (unfinished.length >= backfill.concurrency) return "waits";
    const skipped = await skipTimes(backfill);
    if (skipped !== undefined) return skipped;
    const prepared = await prepare(backfill, time);
    if (prepared === undefined) return "waits";
    const [progress, message] = await transaction((tx) => start(tx, backfill, prepared, time));
    if (message !== undefined && message !== backfill.message)
      await transaction((tx) => tx.backfills.setMessage(id, message));
    return progress;
  }

  /** Skips the times that come next and have a run. @returns undefined if the next one has none, and is to be started */
  async function skipTimes(backfill: BackfillRecord): Promise<Progress | undefined> {
    const next = backfill.nextAt!;
    const newest = (await read.backfills.slotRuns(backfill, [next])).get(next);
    if (!isBackfillDone(backfill, newest)) return undefined;
    const times = timesFrom(backfill, next, MAX_SKIPPED);
    const found = await read.backfills.slotRuns(backfill, times.slice(0, MAX_SKIPPED));
    const first = times.findIndex((time) => !isBackfillDone(backfill, found.get(time)));
    // A run may have been purged meanwhile.
    if (first === 0) return undefined;
    const skipped = first === -1 ? Math.min(times.length, MAX_SKIPPED) : first;
    const nextAt = times[skipped] ?? null;
    await transaction((tx) => tx.backfills.advance(backfill.id, next, { nextAt, started: 0, skipped }));
    return "skipped";
  }

  /** The times from `from` on, and the one after them: at most `count` + 1. */
  function timesFrom(backfill: BackfillRecord, from: string, count: number): string[] {
    const { cron, timezone, to } = backfill;
    const after = options.policy
      .nextTimes({ cron, timezone, lastAt: from }, Date.parse(from), count)
      .map(iso)
      .filter((time) => time <= to);
    return [from, ...after];
  }

  /** @returns undefined when it can't start now, or never: then the backfill has ended */
  async function prepare(backfill: BackfillRecord, time: string): Promise<PreparedRun | undefined> {
    try {
      return await prepareSlot(backfill, time);
    } catch (error) {
      if (isStorageUnavailable(error)) throw error;
      if (!(error instanceof AppError) && !(error instanceof StepError)) throw error;
      await end(backfill, "failed", `The run of ${time} can't start: ${error.message}`);
      return undefined;
    }
  }

  async function prepareSlot(backfill: BackfillRecord, time: string): Promise<PreparedRun> {
    const { workflowId, version, actor, keyLimits } = backfill;
    const prepared = await options.prepareRun({
      workflowId,
      caller: null,
      keyLimits,
      version,
      inputs: await scheduledInputs(options, backfill, { trigger: "backfill", time }),
      actor,
      trigger: "backfill",
      scheduledFor: time,
      backfill: backfill.id,
      maxPriority: BACKFILL_PRIORITY,
    });
    if (prepared.project === backfill.project) return prepared;
    throw new AppError("workflow_not_runnable", `"${workflowId}" was moved to another project.`);
  }

  /** @returns with a message, why it waits */
  async function start(
    tx: EngineWriters,
    { id }: BackfillRecord,
    prepared: PreparedRun,
    time: string,
  ): Promise<[Progress, message?: string]> {
    // Others may have advanced, ended or started it since it was read.
    const current = await tx.backfills.lock(id);
    if (current?.status !== "running" || current.nextAt !== time) return ["skipped"];
    if ((await tx.backfills.unfinishedRuns(id)).length >= current.concurrency) return ["waits"];
    const { workflowId } = current;
    if ((await tx.schedules.find(workflowId)) === undefined) {
      await endIn(tx, current, "failed", `"${workflowId}" is no longer published with a schedule.`);
      return ["waits"];
    }
    const refused = await context.startLimits.refusal(tx, prepared);
    if (refused !== undefined) return ["waits", refused.message.slice(0, MAX_MESSAGE_CHARS)];
    // Another backfill may start the same time: from here on it waits.
    await tx.runs.lockQueue(workflowId, "exclusive");
    if (!(await mayStartNow(context, tx, prepared))) return ["waits", WAITS_FOR_OTHERS];
    const existing = (await tx.backfills.slotRuns(current, [time])).get(time);
    const nextAt = timesFrom(current, time, 1)[1] ?? null;
    const isSkipped = isBackfillDone(current, existing);
    const counts = isSkipped ? { started: 0, skipped: 1 } : { started: 1, skipped: 0 };
    if (!(await tx.backfills.advance(id, time, { nextAt, ...counts })) || isSkipped) return ["skipped"];
    await startRun(context, tx, prepared);
    return ["started"];
  }

  function end(
    backfill: BackfillRecord,
    status: "finished" | "failed",
    message: string | null,
  ): Promise<void> {
    return transaction((tx) => endIn(tx, backfill, status, message));
  }

  async function endIn(
    tx: EngineWriters,
    { id, workflowId }: BackfillRecord,
    status: "finished" | "failed",
    message: string | null,
  ): Promise<void> {
    const finishedAt = iso(context.clock.now());
    const text = message?.slice(0, MAX_MESSAGE_CHARS) ?? null;
    if (!(await tx.backfills.endRunning(id, { status, message: text, finishedAt, cancelledBy: null })))
      return;
    tx.onCommit(() => {
      context.meter.backfillEnded(status);
      const fields = { workflow_id: workflowId, backfill: id, ...(text !== null && { reason: text }) };
      if (status === "failed") log.warn(fields, "backfill failed");
      else log.info(fields, "backfill finished");
    });
  }
}

const WAITS_FOR_OTHERS = "Other runs of the workflow go first: it has reached its number of concurrent runs.";

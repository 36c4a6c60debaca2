/**
 * Starts scheduled runs. Any executor may start the run of a schedule that is due; a unique constraint refuses a second
 * one for the same time. Times that were missed while no executor was running are recorded, and made up for by one run,
 * for the last of them.
 */
import type { Logger } from "pino";
import type { Definition } from "../../../schemas/workflow-definition.ts";
import { isAgreed, iso } from "../../core/clock.ts";
import type { PreparedRun } from "../../core/engine-port.ts";
import { isStorageUnavailable } from "../../core/errors.ts";
import type { ScheduleRecord, SkippedRuns } from "../../core/model.ts";
import { oneAtATime } from "../../core/once-per.ts";
import type { EngineReaders, EngineTransaction, EngineWriters, RunReader } from "../../core/run-ports.ts";
import { nextTime, scheduleTimes } from "../definition/schedule-times.ts";
import { lateSchedules } from "./late-schedules.ts";
import type { PrepareRun } from "./prepare-run.ts";
import type { RunContext } from "./run-context.ts";
import type { SchedulePolicy } from "./schedule-policy.ts";
import { scheduledInputs } from "./scheduled-inputs.ts";
import { startRun } from "./start-run.ts";

/** Maximum number of due times that are counted one by one. Of more, only the first ones and the last two are listed. */
const MAX_COUNTED = 1_000;
/** Maximum number of runs that a schedule with `overlap: queue` has waiting behind its active one. */
const MAX_QUEUED = 100;
/** Schedules processed per poll. */
const BATCH_SIZE = 20;
/** Maximum length of a recorded reason, in characters. */
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

export interface Scheduler {
  /** Starts the runs that are due. Safe to call from any number of executors at a time. @returns how many it started */
  startDueRuns(): Promise<number>;
  /** Corrects the schedules that a clock that was ahead has advanced too far, once a minute. @returns how many */
  correctLateSchedules(): Promise<number>;
}

type SkipReason = Pick<SkippedRuns, "reason" | "message">;

export function scheduler(options: Options): Scheduler {
  const { context, read, transaction, policy, log } = options;
  /** The published versions whose schedule runs less often than it says, as logged. */
  const logged = new Map<string, number>();

  return {
    startDueRuns: oneAtATime(poll),

    correctLateSchedules: lateSchedules({ clock: context.clock, read, transaction, policy, log }),
  };

  async function poll(): Promise<number> {
    // With a wrong clock the other executors start them.
    if (!isAgreed(context.clock)) return 0;
    const now = context.clock.now();
    let count = 0;
    for (const schedule of await read.schedules.due(iso(now), BATCH_SIZE)) {
      if (await startOrLog(schedule, now)) count += 1;
    }
    return count;
  }

  /** A schedule that fails does not delay the others. When the store is unavailable all of them fail. */
  async function startOrLog(schedule: ScheduleRecord, now: number): Promise<boolean> {
    try {
      return await startScheduledRun(schedule, now);
    } catch (err) {
      if (isStorageUnavailable(err)) throw err;
      log.warn({ err, workflow_id: schedule.workflowId }, "schedule check failed");
      return false;
    }
  }

  async function startScheduledRun(schedule: ScheduleRecord, now: number): Promise<boolean> {
    const { workflowId, version } = schedule;
    const pauseMs = options.policy.pauseOf(schedule);
    const { time, missed } = dueTimes(schedule, now, pauseMs);
    const nextAt = nextTime(schedule, Math.max(now, Date.parse(time) + pauseMs));
    logPolicy(schedule);
    const prepared = await prepare(schedule, time).catch((err: unknown) => {
      // The schedule does not advance, so the next poll starts the run of this time.
      if (isStorageUnavailable(err)) throw err;
      log.warn({ err, workflow_id: workflowId, scheduled_for: time }, "scheduled run not started");
      return { failed: err instanceof Error ? err.message : String(err) };
    });
    const started = await transaction(async (tx) => {
      // A clock that was ahead has started some already. Their runs are none that this time overlaps with.
      const ran = await tx.runs.scheduledTimes(workflowId, [...missed, time]);
      const hasRun = ran.has(time);
      const skip = hasRun ? undefined : await skipReason(tx, schedule, prepared);
      const left = missed.filter((at) => !ran.has(at));
      const skipped =
        skip !== undefined
          ? skippedRuns(skip, [...left, time], { now, schedule })
          : left.length > 0
            ? skippedRuns({ reason: "missed", message: missedMessage(left) }, left, { now, schedule })
            : undefined;
      const advanced = await tx.schedules.advance(workflowId, schedule.nextAt!, {
        version,
        nextAt,
        ...(skip === undefined && { lastAt: time }),
        ...(skipped !== undefined && { skipped }),
      });
      if (!advanced || hasRun || "failed" in prepared || skip !== undefined) return false;
      await startRun(context, tx, prepared);
      return true;
    });
    if (missed.length > 0) {
      log.warn(
        { workflow_id: workflowId, missed: missed.length, scheduled_for: time },
        "scheduled times missed; one run makes up for them",
      );
    }
    return started;
  }

  /** Logs once that a schedule runs less often than it says. */
  function logPolicy(schedule: ScheduleRecord): void {
    const warning = options.policy.warning(schedule);
    const { workflowId, version } = schedule;
    if (warning === undefined || logged.get(workflowId) === version) return;
    logged.set(workflowId, version);
    log.warn({ workflow_id: workflowId, version, reason: warning }, "schedule slowed down");
  }

  /** @returns why no run is started; undefined when one is */
  async function skipReason(
    tx: EngineWriters,
    schedule: ScheduleRecord,
    prepared: PreparedRun | { failed: string },
  ): Promise<SkipReason | undefined> {
    if ("failed" in prepared) return { reason: "failed", message: prepared.failed };
    const unfinished = await tx.runs.countScheduled({
      workflowId: schedule.workflowId,
      project: prepared.project,
    });
    if (schedule.overlap === "skip" && unfinished > 0) {
      return { reason: "overlap", message: "The previous run was still running, and overlap is skip." };
    }
    if (unfinished > MAX_QUEUED) return { reason: "overlap", message: QUEUE_FULL };
    const refused = await context.startLimits.refusal(tx, prepared);
    return refused && { reason: "limit", message: refused.message };
  }

  async function prepare(schedule: ScheduleRecord, time: string): Promise<PreparedRun> {
    return options.prepareRun({
      workflowId: schedule.workflowId,
      caller: null,
      version: schedule.version,
      inputs: await scheduledInputs(options, schedule, { trigger: "schedule", time }),
      actor: { ...schedule.actor, surface: "cli", client: "schedule" },
      trigger: "schedule",
      scheduledFor: time,
    });
  }
}

/** The last due time, and the missed ones before it. Beyond `MAX_COUNTED`, the times before the last two are cut. */
function dueTimes(
  schedule: ScheduleRecord,
  now: number,
  pauseMs: number,
): { time: string; missed: string[] } {
  const times = scheduleTimes(schedule);
  const due: number[] = [];
  for (let at: number | null = Date.parse(schedule.nextAt!); at !== null; at = times.next(at + pauseMs)) {
    if (due.length === MAX_COUNTED || (due.length > 0 && at > now)) break;
    due.push(at);
  }
  if (due.length === MAX_COUNTED) due.splice(-2, 2, ...times.last(2, now));
  return { time: iso(due.at(-1)!), missed: due.slice(0, -1).map(iso) };
}

const missedMessage = (missed: readonly string[]): string =>
  `No executor was running at ${missed.length === 1 ? "that time" : "those times"}; ` +
  "one run, for the last missed time, makes up for them.";

const QUEUE_FULL = `${MAX_QUEUED} runs of this schedule were already queued. Further times are skipped until one of them starts.`;

/** @param options.schedule its queue may have been full before: as long as no run starts, the skipped times are counted together */
function skippedRuns(
  { reason, message }: SkipReason,
  times: readonly string[],
  { now, schedule }: { now: number; schedule: ScheduleRecord },
): SkippedRuns {
  const { skipped, lastAt } = schedule;
  const isContinued =
    message === QUEUE_FULL && skipped?.message === QUEUE_FULL && (lastAt ?? "") < skipped.last;
  const earlier = isContinued ? skipped : undefined;
  return {
    reason,
    count: times.length + (earlier?.count ?? 0),
    first: earlier?.first ?? times[0]!,
    last: times.at(-1)!,
    noted_at: iso(now),
    message: message.slice(0, MAX_MESSAGE_CHARS),
  };
}

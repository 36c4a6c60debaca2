/**
 * Schedules: whichever executor sees first that one is due makes its run; a unique index lets no second one in.
 * What was missed while nobody was there is told, and made good once: by one run, for the last missed moment.
 * Where the clock is put forward, a time of day that is left out that day comes at the end of the gap (02:30 at 03:00);
 * where it is put back, one that comes twice counts the first time. What recurs within the day goes on regularly.
 */
import type { Logger } from "pino";
import type { Definition } from "../../../schemas/workflow-definition.ts";
import { iso } from "../../core/clock.ts";
import type { PreparedRun } from "../../core/engine-port.ts";
import { isStorageUnavailable } from "../../core/errors.ts";
import type {
  EngineReaders,
  EngineTransaction,
  EngineWriters,
  RunReader,
  ScheduleRecord,
  SkippedRuns,
} from "../../core/run-ports.ts";
import { scheduleInputs } from "../definition/plan.ts";
import { lastTwoTimes, nextTime } from "./schedule-times.ts";
import type { PrepareRun } from "./prepare-run.ts";
import type { RunContext } from "./run-context.ts";
import { startRun } from "./start-run.ts";

/** As many missed moments are counted; beyond, there were at least so many. */
const MOST_COUNTED = 1_000;
const AT_ONCE = 20;

interface Options {
  context: RunContext;
  read: EngineReaders;
  runs: Pick<RunReader, "versionDefinition">;
  transaction: EngineTransaction;
  prepareRun: PrepareRun;
  parse(definition: Record<string, unknown>): Definition;
  log: Logger;
  /** How many runs may be unfinished before no more are made. */
  maxUnfinishedRuns: number;
}

export interface Scheduler {
  /** Makes the runs that are due; gives how many. Any number of executors may do this at a time. */
  startDueRuns(): Promise<number>;
}

export function scheduler(options: Options): Scheduler {
  const { context, read, transaction, log } = options;

  let firing = false;

  return {
    async startDueRuns() {
      // A look that takes longer than the time between two goes on by itself.
      if (firing) return 0;
      firing = true;
      try {
        const now = context.clock.now();
        let made = 0;
        for (const schedule of await read.schedules.due(iso(now), AT_ONCE)) {
          if (await fireOrLog(schedule, now)) made += 1;
        }
        return made;
      } finally {
        firing = false;
      }
    },
  };

  /** One that fails does not keep the others waiting; where the state can't be used, all of them fail. */
  async function fireOrLog(schedule: ScheduleRecord, now: number): Promise<boolean> {
    try {
      return await fireOne(schedule, now);
    } catch (err) {
      if (isStorageUnavailable(err)) throw err;
      log.warn({ err, workflow_id: schedule.workflowId }, "a schedule could not be looked at; trying again");
      return false;
    }
  }

  async function fireOne(schedule: ScheduleRecord, now: number): Promise<boolean> {
    const { workflowId, version } = schedule;
    const { moment, missed } = lastDue(schedule, now);
    const nextAt = nextTime(schedule, now);
    const prepared = await prepare(schedule, moment).catch((err: unknown) => {
      // The moment is not lost: the next look tries again.
      if (isStorageUnavailable(err)) throw err;
      log.warn({ err, workflow_id: workflowId, scheduled_for: moment }, "a scheduled run could not be made");
      return { failed: err instanceof Error ? err.message : String(err) };
    });
    const made = await transaction(async (tx) => {
      const reason = await whyNot(tx, schedule, prepared);
      const skipped =
        reason !== undefined
          ? skippedRuns(reason.reason, [...missed, moment], now, reason.message)
          : missed.length > 0
            ? skippedRuns("missed", missed, now, madeGood(missed))
            : undefined;
      const moved = await tx.schedules.advance(workflowId, schedule.nextAt!, {
        version,
        nextAt,
        ...(reason === undefined && { lastAt: moment }),
        ...(skipped !== undefined && { skipped }),
      });
      if (!moved || "failed" in prepared || reason !== undefined) return false;
      if (await tx.runs.wasScheduled(workflowId, moment)) return false;
      await startRun(context, tx, prepared);
      return true;
    });
    if (missed.length > 0) {
      log.warn(
        { workflow_id: workflowId, missed: missed.length, scheduled_for: moment },
        "scheduled moments were missed; one run makes them good",
      );
    }
    return made;
  }

  /** Why a moment gets no run; undefined when it gets one. */
  async function whyNot(
    tx: EngineWriters,
    schedule: ScheduleRecord,
    prepared: PreparedRun | { failed: string },
  ): Promise<Pick<SkippedRuns, "reason" | "message"> | undefined> {
    if ("failed" in prepared) return { reason: "failed", message: prepared.failed };
    if (schedule.overlap === "skip" && (await tx.runs.hasScheduled(schedule.workflowId))) {
      return { reason: "overlap", message: "Its last run still went on, and overlap is skip." };
    }
    if (await tx.runs.hasUnfinished(options.maxUnfinishedRuns)) {
      return {
        reason: "failed",
        message: `${options.maxUnfinishedRuns} runs were unfinished already (limits.unfinished_runs).`,
      };
    }
    return undefined;
  }

  async function prepare(schedule: ScheduleRecord, moment: string) {
    const stored = await options.runs.versionDefinition(schedule.workflowId, schedule.version);
    const definition = options.parse(stored ?? {});
    const run = {
      id: null,
      workflow_id: schedule.workflowId,
      trigger: "schedule",
      started_at: iso(context.clock.now()),
      scheduled_for: moment,
    };
    return options.prepareRun({
      workflowId: schedule.workflowId,
      version: schedule.version,
      inputs: scheduleInputs(definition, run),
      actor: { ...schedule.actor, surface: "cli", client: "schedule" },
      trigger: "schedule",
      scheduledFor: moment,
    });
  }
}

/** The last moment that has come, and those before it that nobody was there for: of very many the first and the last. */
function lastDue(schedule: ScheduleRecord, now: number): { moment: string; missed: string[] } {
  const due = [schedule.nextAt!];
  for (let at = Date.parse(due[0]!); due.length < MOST_COUNTED;) {
    const next = nextTime(schedule, at);
    if (next === null || Date.parse(next) > now) break;
    due.push(next);
    at = Date.parse(next);
  }
  if (due.length === MOST_COUNTED) due.splice(-2, 2, ...lastTwoTimes(schedule, now));
  return { moment: due.at(-1)!, missed: due.slice(0, -1) };
}

const madeGood = (missed: readonly string[]): string =>
  `Nothing was there to run ${missed.length === 1 ? "it" : "them"}; one run, for the last missed moment, makes them good.`;

const skippedRuns = (
  reason: SkippedRuns["reason"],
  moments: readonly string[],
  now: number,
  message: string,
): SkippedRuns => ({
  reason,
  count: moments.length,
  first: moments[0]!,
  last: moments.at(-1)!,
  noted_at: iso(now),
  message: message.slice(0, 500),
});

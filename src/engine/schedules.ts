/**
 * Schedules: whichever executor sees first that one is due makes its run; a unique index lets no second one in.
 * What was missed while nobody was there is told, and made good once: by one run, for the last missed moment.
 * Where the clock is put forward, a time of day that is left out that day comes at the end of the gap (02:30 at 03:00);
 * where it is put back, one that comes twice counts the first time. What recurs within the day goes on regularly.
 */
import { Cron } from "croner";
import type { Logger } from "pino";
import type { Definition } from "../../schemas/workflow-definition.ts";
import { iso } from "../core/clock.ts";
import type {
  EngineReaders,
  EngineTransaction,
  EngineWriters,
  RunReader,
  ScheduleRecord,
  SkippedRuns,
} from "../core/run-ports.ts";
import { scheduleInputs } from "./plan.ts";
import type { PrepareRun } from "./prepare-run.ts";
import { type Mover, startRun } from "./transitions.ts";

/** As many missed moments are counted; beyond, there were at least so many. */
const MOST_COUNTED = 1_000;
const AT_ONCE = 20;

/** The next moments of a schedule after `after`, in milliseconds. Empty when there are none. */
export function nextTimes(
  { cron, timezone }: Pick<ScheduleRecord, "cron" | "timezone">,
  after: number,
  count: number,
): number[] {
  return new Cron(cron, { timezone, paused: true })
    .nextRuns(count, new Date(after))
    .map((it) => it.getTime());
}

export const nextTime = (
  schedule: Pick<ScheduleRecord, "cron" | "timezone">,
  after: number,
): string | null => {
  const [next] = nextTimes(schedule, after, 1);
  return next === undefined ? null : iso(next);
};

interface Options {
  mover: Mover;
  read: EngineReaders;
  runs: Pick<RunReader, "versionDefinition">;
  transaction: EngineTransaction;
  prepareRun: PrepareRun;
  parse(definition: Record<string, unknown>): Definition;
  log: Logger;
}

export interface Scheduler {
  /** Makes the runs that are due; gives how many. Any number of executors may do this at a time. */
  fire(): Promise<number>;
}

export function scheduler(options: Options): Scheduler {
  const { mover, read, transaction, log } = options;

  return {
    async fire() {
      const now = mover.clock.now();
      let made = 0;
      for (const schedule of await read.schedules.due(iso(now), AT_ONCE)) {
        if (await fireOne(schedule, now)) made += 1;
      }
      return made;
    },
  };

  async function fireOne(schedule: ScheduleRecord, now: number): Promise<boolean> {
    const { moment, missed } = lastDue(schedule, now);
    const nextAt = nextTime(schedule, now);
    const prepared = await prepare(schedule, moment).catch((err: unknown) => {
      log.warn(
        { err, workflow: schedule.workflowId, scheduled_for: moment },
        "a scheduled run could not be made",
      );
      return { failed: err instanceof Error ? err.message : String(err) };
    });
    const made = await transaction(async (tx) => {
      if ("failed" in prepared) {
        const skipped = skippedRuns("failed", [...missed, moment], now, prepared.failed);
        await tx.schedules.advance(schedule.workflowId, schedule.nextAt!, { nextAt, skipped });
        return false;
      }
      const overlap = await overlaps(tx, schedule);
      const left = overlap ? [...missed, moment] : missed;
      const skipped =
        left.length === 0
          ? {}
          : { skipped: skippedRuns(overlap ? "overlap" : "missed", left, now, reasonOf(overlap, missed)) };
      const moved = await tx.schedules.advance(schedule.workflowId, schedule.nextAt!, {
        nextAt,
        ...(!overlap && { lastAt: moment }),
        ...skipped,
      });
      if (!moved || overlap || (await tx.runs.wasScheduled(schedule.workflowId, moment))) return false;
      await startRun(mover, tx, prepared);
      return true;
    });
    if (missed.length > 0) {
      log.warn(
        { workflow: schedule.workflowId, missed: missed.length, scheduled_for: moment },
        "scheduled moments were missed; one run makes them good",
      );
    }
    return made;
  }

  async function prepare(schedule: ScheduleRecord, moment: string) {
    const stored = await options.runs.versionDefinition(schedule.workflowId, schedule.version);
    const definition = options.parse(stored ?? {});
    const run = {
      id: null,
      workflow_id: schedule.workflowId,
      trigger: "schedule",
      started_at: iso(mover.clock.now()),
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

/** With `overlap: skip` nothing starts while a scheduled run of the workflow goes on. */
const overlaps = async (tx: EngineWriters, { workflowId, overlap }: ScheduleRecord): Promise<boolean> =>
  overlap === "skip" && (await tx.runs.active(workflowId, "schedule")) > 0;

/** The last moment that has come, and those before it that nobody was there for: of very many the first and the last. */
function lastDue(schedule: ScheduleRecord, now: number): { moment: string; missed: string[] } {
  const due = [schedule.nextAt!];
  for (let at = Date.parse(due[0]!); due.length < MOST_COUNTED;) {
    const next = nextTime(schedule, at);
    if (next === null || Date.parse(next) > now) break;
    due.push(next);
    at = Date.parse(next);
  }
  if (due.length === MOST_COUNTED) due.splice(-2, 2, ...lastTwo(schedule, now));
  return { moment: due.at(-1)!, missed: due.slice(0, -1) };
}

/** The last two moments up to `now`. */
function lastTwo({ cron, timezone }: ScheduleRecord, now: number): string[] {
  // A moment that is the reference itself would not count.
  const last = new Cron(cron, { timezone, paused: true }).previousRuns(2, new Date(now + 1));
  return last.toReversed().map((at) => iso(at.getTime()));
}

const reasonOf = (overlap: boolean, missed: readonly string[]): string =>
  overlap
    ? "Its last run still went on, and overlap is skip."
    : `Nothing was there to run ${missed.length === 1 ? "it" : "them"}; one run, for the last missed moment, makes them good.`;

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

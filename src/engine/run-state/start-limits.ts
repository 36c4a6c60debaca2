/**
 * Limits how many runs start, wherever they start: by a caller, a schedule, or another run. Each counts for the owner who
 * caused it, and for its project. They are enforced in the transaction that inserts the run.
 */
import { type Clock, SECOND } from "../../core/clock.ts";
import type { PreparedRun } from "../../core/engine-port.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import {
  limitExceededMessage,
  maxUnfinished,
  type UsageHolder,
  type UsageHolders,
  type UsageLimit,
  usageLimitFor,
  windowEnd,
} from "../../core/usage-limits.ts";
import { LimitRefusal } from "./limit-refusal.ts";
import { storageRefusal } from "./storage-limit.ts";

/**
 * Maximum number of runs that start in transactions at the same time, which do not see each other: those of 16 processes with 5 transactions of
 * 64 changes each. While more than these may still start, no start waits for another one.
 */
const CONCURRENT_STARTS = 5_000;

/** When a start may be tried again that runs must end for, in seconds. */
const RETRY_AFTER_S = 30;

/** The part of each limit that backfills, backtests and bulk actions may use: the rest is for other runs. */
const BACKGROUND_SHARE = 0.5;

type StartingRun = Pick<PreparedRun, "actor" | "parent" | "trigger" | "project"> & {
  /** Whether it is one of many that nobody waits for, whatever its trigger. */
  isBackground?: boolean;
};
type Writers = Pick<EngineWriters, "runs" | "usage">;

export interface StartLimits {
  /**
   * Why a run can't start now; undefined when it can. Writes nothing.
   * Locks: the starts of its owner and of its project, until the transaction ends, when a limit is near.
   */
  refusal(tx: Writers, run: StartingRun): Promise<LimitRefusal | undefined>;
  /**
   * Counts a run that starts.
   * @returns a function that takes it back, in the same transaction
   * @throws LimitRefusal; nothing was written then
   */
  count(tx: Writers, run: StartingRun): Promise<() => Promise<void>>;
}

export interface StartLimitsOptions {
  /** Whose limits apply to a run; one that is missing is neither read nor counted. */
  holdersOf: UsageHolders;
  /** Number of unfinished runs, of all owners, from which on no more start. */
  unfinishedRuns: number;
}

/** A limit of the runs in this hour. */
interface HourlyLimit {
  holder: UsageHolder;
  limit: UsageLimit;
  endsAt: number;
}

export function startLimits({ holdersOf, unfinishedRuns }: StartLimitsOptions, clock: Clock): StartLimits {
  async function unfinishedRefusal(
    tx: Writers,
    run: StartingRun,
    holders: readonly UsageHolder[],
  ): Promise<LimitRefusal | undefined> {
    const startedByRun = run.parent !== null || run.trigger === "on_failure";
    const limited = holders.flatMap((holder) => {
      const max = holder.limits.unfinished_runs;
      return max === undefined
        ? []
        : [{ ...holder, max, ownMax: shareOf(run, maxUnfinished(max, startedByRun)) }];
    });
    const isNear = (count: number): boolean =>
      limited.some(({ ownMax }) => count + CONCURRENT_STARTS >= ownMax);
    const lock = async (): Promise<void> => {
      for (const { subject } of limited) await tx.runs.lockStarts(subject);
    };
    // A small limit is always near.
    const isSmall = isNear(0);
    if (isSmall) await lock();
    let total = await tx.runs.countAllUnfinished();
    if (!isSmall && isNear(total)) {
      await lock();
      // What the one before has started counts.
      total = await tx.runs.countAllUnfinished();
    }
    if (total >= shareOf(run, maxUnfinished(unfinishedRuns, startedByRun))) {
      return tooManyRuns(
        `There are ${unfinishedRuns} unfinished runs, the maximum of limits.unfinished_runs.`,
        "list_runs with status queued, running or waiting lists them.",
      );
    }
    for (const { max, ownMax, project, label, settingName } of limited) {
      // No holder has more than all have together: mostly its own need not be counted.
      if (total < ownMax) continue;
      const count =
        project === undefined
          ? await tx.runs.countUnfinishedFor(run.actor)
          : await tx.runs.countUnfinishedOf(project);
      if (count < ownMax) continue;
      return tooManyRuns(
        `${max} runs of ${label} are unfinished, which is the maximum (${settingName("unfinished_runs")}).`,
        "list_runs with status queued, running or waiting shows them.",
        project,
      );
    }
    return undefined;
  }

  /** The limits of runs in this hour for which the run counts. */
  const hourlyLimits = (holders: readonly UsageHolder[]): HourlyLimit[] =>
    holders.flatMap((holder) => {
      const limit = usageLimitFor(holder.limits, "runs");
      return limit === undefined ? [] : [{ holder, limit, endsAt: windowEnd(limit, clock.now()) }];
    });

  const hourlyRefusal = ({ holder, limit, endsAt }: HourlyLimit): LimitRefusal =>
    new LimitRefusal(
      "too_many_runs",
      `${limitExceededMessage(holder, limit, endsAt)} The run was not started. ` +
        "Start it again then, or ask the operator for a higher limit.",
      { retryAfterS: Math.ceil((endsAt - clock.now()) / SECOND), project: holder.project },
    );

  return {
    async refusal(tx, run) {
      const holders = await holdersOf(run.actor, run.project, tx.usage);
      const refused = (await storageRefusal(tx, holders)) ?? (await unfinishedRefusal(tx, run, holders));
      if (refused !== undefined) return refused;
      for (const hourly of hourlyLimits(holders)) {
        const used = await tx.usage.usedInWindow(hourly.holder.subject, "runs", hourly.endsAt);
        if (used >= shareOf(run, hourly.limit.max)) return hourlyRefusal(hourly);
      }
      return undefined;
    },

    async count(tx, run) {
      const holders = await holdersOf(run.actor, run.project, tx.usage);
      const refused = (await storageRefusal(tx, holders)) ?? (await unfinishedRefusal(tx, run, holders));
      if (refused !== undefined) throw refused;
      const counted: HourlyLimit[] = [];
      const takeBack = async (): Promise<void> => {
        for (const { holder, endsAt } of counted) await tx.usage.add(holder.subject, "runs", endsAt, -1);
      };
      for (const hourly of hourlyLimits(holders)) {
        const { holder, endsAt, limit } = hourly;
        if (await tx.usage.reserve(holder.subject, "runs", endsAt, { amount: 1, max: limit.max })) {
          counted.push(hourly);
          continue;
        }
        // The caller may go on with its transaction, without the run.
        await takeBack();
        throw hourlyRefusal(hourly);
      }
      return takeBack;
    },
  };
}

/** How much of a limit a run may use. */
const shareOf = ({ trigger, isBackground = false }: StartingRun, max: number): number =>
  isBackground || trigger === "backfill" || trigger === "backtest" ? Math.ceil(max * BACKGROUND_SHARE) : max;

const tooManyRuns = (what: string, how: string, project?: string): LimitRefusal =>
  new LimitRefusal("too_many_runs", `${what} Wait until some have ended, or cancel some: ${how}`, {
    retryAfterS: RETRY_AFTER_S,
    project,
  });

/**
 * Limits how many runs start, wherever they start: by a caller, a schedule, or another run. Each counts for the owner who
 * caused it. They are enforced in the transaction that inserts the run.
 */
import { type Clock, SECOND } from "../../core/clock.ts";
import type { PreparedRun } from "../../core/engine-port.ts";
import { AppError } from "../../core/errors.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import { StepError } from "../../core/step-errors.ts";
import {
  isUsageLimited,
  limitExceededMessage,
  maxUnfinished,
  ownerLabel,
  type PerKeyLimits,
  usageLimitFor,
  usageSubjectOf,
  windowEnd,
} from "../../core/usage-limits.ts";
import { storageRefusal } from "./storage-limit.ts";

/** When a start may be tried again that runs must end for, in seconds. */
const RETRY_AFTER_S = 30;

type StartingRun = Pick<PreparedRun, "actor" | "parent" | "trigger">;
type Writers = Pick<EngineWriters, "runs" | "usage">;

export interface StartLimits {
  /**
   * Why a run can't start now; undefined when it can. Writes nothing.
   * Locks: the starts of its owner, until the transaction ends.
   */
  refusal(tx: Writers, run: StartingRun): Promise<AppError | undefined>;
  /** Counts a run that starts. @throws AppError too_many_runs, storage_limit_reached; nothing was written then */
  count(tx: Writers, run: StartingRun): Promise<void>;
}

export interface StartLimitsOptions {
  /** Limits of each owner; one that is missing is neither read nor counted. */
  perKey: PerKeyLimits;
  /** Number of unfinished runs, of all owners, from which on no more start. */
  unfinishedRuns: number;
}

export function startLimits({ perKey, unfinishedRuns }: StartLimitsOptions, clock: Clock): StartLimits {
  async function unfinishedRefusal(tx: Writers, run: StartingRun): Promise<AppError | undefined> {
    const startedByRun = run.parent !== null || run.trigger === "on_failure";
    const max = isUsageLimited(run.actor) ? perKey.unfinished_runs : undefined;
    if (max !== undefined) await tx.runs.lockStarts(usageSubjectOf(run.actor));
    const total = await tx.runs.countAllUnfinished();
    if (total >= maxUnfinished(unfinishedRuns, startedByRun)) {
      return tooManyRuns(
        `There are ${unfinishedRuns} unfinished runs, the maximum of limits.unfinished_runs.`,
        "list_runs with status queued, running or waiting lists them.",
      );
    }
    if (max === undefined) return undefined;
    const ownMax = maxUnfinished(max, startedByRun);
    // No owner has more than all have together: mostly its own need not be counted.
    if (total < ownMax || (await tx.runs.countUnfinishedFor(run.actor)) < ownMax) return undefined;
    return tooManyRuns(
      `${max} runs of ${ownerLabel(run.actor)} are unfinished, which is the maximum (limits.per_key.unfinished_runs).`,
      "list_runs with status queued, running or waiting shows them.",
    );
  }

  /** The limit of runs in this hour, if the run counts for one. */
  function hourlyLimit({ actor }: StartingRun) {
    const limit = isUsageLimited(actor) ? usageLimitFor(perKey, "runs") : undefined;
    return limit && { limit, subject: usageSubjectOf(actor), endsAt: windowEnd(limit, clock.now()) };
  }

  const hourlyRefusal = (
    { actor }: StartingRun,
    { limit, endsAt }: NonNullable<ReturnType<typeof hourlyLimit>>,
  ): AppError =>
    new AppError(
      "too_many_runs",
      `${limitExceededMessage(limit, ownerLabel(actor), endsAt)} The run was not started. ` +
        "Start it again then, or ask the operator for a higher limit.",
      { headers: { "Retry-After": String(Math.ceil((endsAt - clock.now()) / SECOND)) } },
    );

  return {
    async refusal(tx, run) {
      const refused = (await storageRefusal(tx, perKey, run.actor)) ?? (await unfinishedRefusal(tx, run));
      const hourly = hourlyLimit(run);
      if (refused !== undefined || hourly === undefined) return refused;
      const used = await tx.usage.usedInWindow(hourly.subject, "runs", hourly.endsAt);
      return used < hourly.limit.max ? undefined : hourlyRefusal(run, hourly);
    },

    async count(tx, run) {
      const refused = (await storageRefusal(tx, perKey, run.actor)) ?? (await unfinishedRefusal(tx, run));
      if (refused !== undefined) throw refused;
      const hourly = hourlyLimit(run);
      if (hourly === undefined) return;
      const { subject, endsAt, limit } = hourly;
      if (!(await tx.usage.reserve(subject, "runs", endsAt, { amount: 1, max: limit.max })))
        throw hourlyRefusal(run, hourly);
    },
  };
}

const tooManyRuns = (what: string, how: string): AppError =>
  new AppError("too_many_runs", `${what} Wait until some have ended, or cancel some: ${how}`, {
    headers: { "Retry-After": String(RETRY_AFTER_S) },
  });

export const isStartRefused = (error: unknown): error is AppError =>
  error instanceof AppError && (error.code === "too_many_runs" || error.code === "storage_limit_reached");

/** The error of a step whose run may not start. */
export const childRefused = ({ message, details }: AppError): StepError =>
  new StepError("limit_reached", message, {
    fix:
      "Retry the run later (retry_run); it reuses the outputs of the steps that succeeded. " +
      "Or let the step wait with retry: { on: [limit_reached] }.",
    retryAfterMs: Number(details.headers!["Retry-After"]) * SECOND,
  });

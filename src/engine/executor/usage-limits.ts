/**
 * Enforces the limits of rows and tokens, and says what remains of all limits. Usage is counted in the transaction that
 * records it. For the starts of runs see run-state/start-limits.ts.
 */
import {
  usageLimitFor,
  METERED_RESOURCES,
  type MeteredResource,
  windowEnd,
  limitExceededMessage,
  type UsageHolder,
  type UsageHolders,
} from "../../core/usage-limits.ts";
import type { Clock } from "../../core/clock.ts";
import { countMails, type HeldMail } from "../../core/mail-limits.ts";
import type { RemainingUsage } from "../../core/engine-port.ts";
import type { RunActor, RunRecord } from "../../core/model.ts";
import type { EngineReaders, EngineWriters } from "../../core/run-ports.ts";
import { StepError } from "../../core/step-errors.ts";

type LimitedCaller = Pick<RunActor, "lineage" | "owner" | "keyName">;
type LimitedRun = Pick<RunRecord, "actor" | "project">;

export interface UsageLimits {
  /** @throws StepError limit_reached when the run's owner or project has used all of its limit */
  assertRemaining(run: LimitedRun, kind: MeteredResource): Promise<void>;
  /** Counts the usage of a step, even beyond the limit, because it can't be undone. */
  recordUsage(
    tx: Pick<EngineWriters, "usage">,
    run: LimitedRun,
    used: Partial<Readonly<Record<MeteredResource, number>>>,
  ): Promise<void>;
  /**
   * Counts mails before they are sent.
   * @returns why they must wait, or can't be sent; undefined when they were counted
   */
  countMails(
    tx: Pick<EngineWriters, "usage">,
    run: { actor: LimitedCaller; project: string },
    addresses: readonly string[],
  ): Promise<HeldMail | undefined>;
  /** The limits of a caller in these projects, with what remains of each. */
  remaining(caller: LimitedCaller, projects: readonly string[]): Promise<RemainingUsage[]>;
}

/** @param holdersOf whose limits apply; a resource without one is neither counted nor read */
export function usageLimits(
  holdersOf: UsageHolders,
  read: Pick<EngineReaders, "usage" | "runs">,
  clock: Clock,
): UsageLimits {
  const limitOf = (holder: UsageHolder, kind: MeteredResource) => {
    const limit = usageLimitFor(holder.limits, kind);
    return limit && { ...limit, endsAt: windowEnd(limit, clock.now()) };
  };

  async function remainingOf(holder: UsageHolder, caller: LimitedCaller): Promise<RemainingUsage[]> {
    const { limits, subject, project } = holder;
    const found: RemainingUsage[] = [];
    const add = (limit: RemainingUsage["limit"], max: number, used: number, resetsAt: number | null): void =>
      void found.push({
        limit,
        max,
        remaining: Math.max(0, max - used),
        resetsAt,
        ...(project !== undefined && { project }),
      });
    if (limits.unfinished_runs !== undefined) {
      const count =
        project === undefined
          ? await read.runs.countUnfinishedFor(caller)
          : await read.runs.countUnfinishedOf(project);
      add("unfinished_runs", limits.unfinished_runs, count, null);
    }
    for (const kind of METERED_RESOURCES) {
      const limit = limitOf(holder, kind);
      if (limit === undefined) continue;
      add(limit.limit, limit.max, await read.usage.usedInWindow(subject, kind, limit.endsAt), limit.endsAt);
    }
    if (limits.stored_bytes !== undefined)
      add("stored_bytes", limits.stored_bytes, await read.usage.storedBytes(subject), null);
    return found;
  }

  return {
    async assertRemaining(run, kind) {
      for (const holder of await holdersOf(run.actor, run.project)) {
        const limit = limitOf(holder, kind);
        if (limit === undefined) continue;
        if ((await read.usage.usedInWindow(holder.subject, kind, limit.endsAt)) < limit.max) continue;
        throw new StepError("limit_reached", limitExceededMessage(holder, limit, limit.endsAt), {
          fix:
            "Retry the run then (retry_run); it reuses the outputs of the steps that succeeded. " +
            "Or ask the operator for a higher limit.",
          // For steps that name limit_reached in retry.on: an earlier retry would fail again.
          retryAfterMs: limit.endsAt - clock.now(),
        });
      }
    },

    async recordUsage(tx, run, used) {
      if (METERED_RESOURCES.every((kind) => (used[kind] ?? 0) === 0)) return;
      const holders = await holdersOf(run.actor, run.project, tx.usage);
      for (const kind of METERED_RESOURCES) {
        const amount = used[kind] ?? 0;
        if (amount === 0) continue;
        for (const holder of holders) {
          const limit = limitOf(holder, kind);
          if (limit !== undefined) await tx.usage.add(holder.subject, kind, limit.endsAt, amount);
        }
      }
    },

    async countMails(tx, run, addresses) {
      const holders = await holdersOf(run.actor, run.project, tx.usage);
      return countMails(tx.usage, holders, addresses, clock.now());
    },

    async remaining(caller, projects) {
      const all: RemainingUsage[] = [];
      const seen = new Set<string>();
      for (const project of projects)
        for (const holder of await holdersOf(caller, project)) {
          if (seen.has(holder.subject)) continue;
          seen.add(holder.subject);
          all.push(...(await remainingOf(holder, caller)));
        }
      return all;
    },
  };
}

/** Enforces `limits.per_key`. Usage is counted in the transaction that records it. */
import {
  usageLimitFor,
  METERED_RESOURCES,
  type MeteredResource,
  windowEnd,
  usageSubjectOf,
  isOperatorKey,
  isUsageLimited,
  type PerKeyLimits,
  limitExceededMessage,
} from "../../core/usage-limits.ts";
import { type Clock, SECOND } from "../../core/clock.ts";
import type { RemainingUsage } from "../../core/engine-port.ts";
import { AppError } from "../../core/errors.ts";
import type { RunActor } from "../../core/model.ts";
import type { EngineReaders, EngineWriters } from "../../core/run-ports.ts";
import { StepError } from "../../core/step-errors.ts";

/** `Retry-After` of a limit that no window resets, in seconds. */
const RETRY_AFTER_S = 30;

type LimitedActor = Pick<RunActor, "lineage" | "owner" | "keyName">;

export interface UsageLimits {
  /** Counts a run that a caller starts. @throws AppError too_many_runs; the transaction must then be rolled back */
  countRun(tx: Pick<EngineWriters, "usage" | "runs">, actor: LimitedActor): Promise<void>;
  /** @throws StepError limit_reached when the actor has used all of its limit */
  assertRemaining(actor: LimitedActor, kind: MeteredResource): Promise<void>;
  /** Counts the usage of a step, even beyond the limit, because it can't be undone. */
  recordUsage(
    tx: Pick<EngineWriters, "usage">,
    actor: LimitedActor,
    used: Partial<Readonly<Record<MeteredResource, number>>>,
  ): Promise<void>;
  /** The limits of the actor, with what remains of each. */
  remaining(actor: Pick<LimitedActor, "owner" | "lineage">): Promise<RemainingUsage[]>;
}

/** @param perKey the configured limits; a resource without one is neither counted nor read */
export function usageLimits(
  perKey: PerKeyLimits,
  read: Pick<EngineReaders, "usage" | "runs">,
  clock: Clock,
): UsageLimits {
  const limitFor = (actor: Pick<LimitedActor, "lineage">, kind: MeteredResource) => {
    const configured = isUsageLimited(actor) ? usageLimitFor(perKey, kind) : undefined;
    return configured && { ...configured, endsAt: windowEnd(configured, clock.now()) };
  };

  async function assertUnfinishedBelowLimit(
    tx: Pick<EngineWriters, "runs">,
    actor: LimitedActor,
  ): Promise<void> {
    const max = perKey.unfinished_runs;
    if (max === undefined || !isUsageLimited(actor)) return;
    await tx.runs.lockStarts(usageSubjectOf(actor));
    if ((await tx.runs.countUnfinishedFor(actor, max)) < max) return;
    throw new AppError(
      "too_many_runs",
      `${max} runs started by ${nameOf(actor)} are unfinished, which is the maximum ` +
        "(limits.per_key.unfinished_runs). Wait until some have ended, or cancel some: list_runs with status queued, " +
        "running or waiting shows them.",
      { headers: { "Retry-After": String(RETRY_AFTER_S) } },
    );
  }

  return {
    async countRun(tx, actor) {
      await assertUnfinishedBelowLimit(tx, actor);
      const limit = limitFor(actor, "runs");
      if (limit === undefined) return;
      const { endsAt, max } = limit;
      if (await tx.usage.reserve(usageSubjectOf(actor), "runs", endsAt, { amount: 1, max })) return;
      const seconds = Math.ceil((limit.endsAt - clock.now()) / SECOND);
      throw new AppError(
        "too_many_runs",
        `${limitExceededMessage(limit, nameOf(actor), limit.endsAt)} The run was not started. ` +
          "Start it again then, or ask the operator for a higher limit.",
        { headers: { "Retry-After": String(seconds) } },
      );
    },

    async assertRemaining(actor, kind) {
      const limit = limitFor(actor, kind);
      if (limit === undefined) return;
      if ((await read.usage.usedInWindow(usageSubjectOf(actor), kind, limit.endsAt)) < limit.max) return;
      throw new StepError("limit_reached", limitExceededMessage(limit, nameOf(actor), limit.endsAt), {
        fix:
          "Retry the run then (retry_run); it reuses the outputs of the steps that succeeded. " +
          "Or ask the operator for a higher limit.",
        // For steps that name limit_reached in retry.on: an earlier retry would fail again.
        retryAfterMs: limit.endsAt - clock.now(),
      });
    },

    async recordUsage(tx, actor, used) {
      for (const kind of METERED_RESOURCES) {
        const amount = used[kind] ?? 0;
        const limit = amount > 0 ? limitFor(actor, kind) : undefined;
        if (limit !== undefined) await tx.usage.add(usageSubjectOf(actor), kind, limit.endsAt, amount);
      }
    },

    async remaining(actor) {
      const windows = METERED_RESOURCES.flatMap((kind) => {
        const limit = limitFor(actor, kind);
        return limit === undefined ? [] : [{ kind, ...limit }];
      });
      const counted = windows.map(async ({ kind, limit, max, endsAt: resetsAt }): Promise<RemainingUsage> => {
        const used = await read.usage.usedInWindow(usageSubjectOf(actor), kind, resetsAt);
        return { limit, max, remaining: Math.max(0, max - used), resetsAt };
      });
      const max = perKey.unfinished_runs;
      if (max === undefined || !isUsageLimited(actor)) return Promise.all(counted);
      const unfinished = await read.runs.countUnfinishedFor(actor, max);
      return [
        { limit: "unfinished_runs", max, remaining: max - unfinished, resetsAt: null },
        ...(await Promise.all(counted)),
      ];
    },
  };
}

/** Names the subject of a limit for people who read the message but did not start the run. */
const nameOf = (actor: LimitedActor): string =>
  isOperatorKey(actor)
    ? `"${actor.keyName}" of ${actor.owner}`
    : `${actor.owner} (all their keys and sessions together)`;

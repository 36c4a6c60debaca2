/**
 * Enforces the limits per key of rows and tokens, and says what remains of all of them. Usage is counted in the transaction
 * that records it. For the starts of runs see run-state/start-limits.ts.
 */
import {
  usageLimitFor,
  METERED_RESOURCES,
  type MeteredResource,
  windowEnd,
  usageSubjectOf,
  ownerLabel,
  isUsageLimited,
  type PerKeyLimits,
  limitExceededMessage,
} from "../../core/usage-limits.ts";
import type { Clock } from "../../core/clock.ts";
import type { RemainingUsage } from "../../core/engine-port.ts";
import type { RunActor } from "../../core/model.ts";
import type { EngineReaders, EngineWriters } from "../../core/run-ports.ts";
import { StepError } from "../../core/step-errors.ts";

type LimitedActor = Pick<RunActor, "lineage" | "owner" | "keyName">;

export interface UsageLimits {
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

  async function unfinished(actor: Pick<LimitedActor, "owner" | "lineage">): Promise<RemainingUsage[]> {
    const max = perKey.unfinished_runs;
    if (max === undefined || !isUsageLimited(actor)) return [];
    const remaining = Math.max(0, max - (await read.runs.countUnfinishedFor(actor)));
    return [{ limit: "unfinished_runs", max, remaining, resetsAt: null }];
  }

  async function stored(actor: Pick<LimitedActor, "owner" | "lineage">): Promise<RemainingUsage[]> {
    const max = perKey.stored_bytes;
    if (max === undefined || !isUsageLimited(actor)) return [];
    const remaining = Math.max(0, max - (await read.usage.storedBytes(usageSubjectOf(actor))));
    return [{ limit: "stored_bytes", max, remaining, resetsAt: null }];
  }

  return {
    async assertRemaining(actor, kind) {
      const limit = limitFor(actor, kind);
      if (limit === undefined) return;
      if ((await read.usage.usedInWindow(usageSubjectOf(actor), kind, limit.endsAt)) < limit.max) return;
      throw new StepError("limit_reached", limitExceededMessage(limit, ownerLabel(actor), limit.endsAt), {
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
      return [...(await unfinished(actor)), ...(await Promise.all(counted)), ...(await stored(actor))];
    },
  };
}

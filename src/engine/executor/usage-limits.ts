/** Holds keys and people to `limits.per_key`: what they use is counted in the transaction that uses it. */
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
import type { EngineReaders, EngineWriters, RunActor } from "../../core/run-ports.ts";
import { StepError } from "../../core/step-errors.ts";

/** When to ask again for what ends at no known moment, in seconds. */
const ASK_AGAIN_S = 30;

type LimitedActor = Pick<RunActor, "lineage" | "owner" | "keyName">;

export interface UsageLimits {
  /**
   * Counts a run that somebody starts.
   * @throws AppError too_many_runs, and then nothing may be committed
   */
  countRun(tx: Pick<EngineWriters, "usage" | "runs">, actor: LimitedActor): Promise<void>;
  /** @throws StepError limit_reached when nothing of this kind is left for the runs of `actor` */
  assertRemaining(actor: LimitedActor, kind: MeteredResource): Promise<void>;
  /** Counts what a step has used. It has it already: what goes beyond is counted too. */
  recordUsage(
    tx: Pick<EngineWriters, "usage">,
    actor: LimitedActor,
    used: Partial<Readonly<Record<MeteredResource, number>>>,
  ): Promise<void>;
  /** Everything that is limited, and how much of it is left. */
  remaining(actor: Pick<LimitedActor, "owner" | "lineage">): Promise<RemainingUsage[]>;
}

/** @param perKey what the configuration allows; where it says nothing, nothing is written and nothing read */
export function usageLimits(
  perKey: PerKeyLimits,
  read: Pick<EngineReaders, "usage" | "runs">,
  clock: Clock,
): UsageLimits {
  const limitFor = (actor: Pick<LimitedActor, "lineage">, kind: MeteredResource) => {
    const allowance = isUsageLimited(actor) ? usageLimitFor(perKey, kind) : undefined;
    return allowance && { ...allowance, endsAt: windowEnd(allowance, clock.now()) };
  };

  async function takeUnfinished(tx: Pick<EngineWriters, "runs">, actor: LimitedActor): Promise<void> {
    const most = perKey.unfinished_runs;
    if (most === undefined || !isUsageLimited(actor)) return;
    await tx.runs.lockStarts(usageSubjectOf(actor));
    if ((await tx.runs.countUnfinishedFor(actor, most)) < most) return;
    throw new AppError(
      "too_many_runs",
      `${most} runs started by ${nameOf(actor)} are unfinished, and no more are taken from it ` +
        "(limits.per_key.unfinished_runs). Wait until some have ended, or cancel some: list_runs with status queued, " +
        "running or waiting shows them.",
      { headers: { "Retry-After": String(ASK_AGAIN_S) } },
    );
  }

  return {
    async countRun(tx, actor) {
      await takeUnfinished(tx, actor);
      const limit = limitFor(actor, "runs");
      if (limit === undefined) return;
      const { endsAt, max } = limit;
      if (await tx.usage.reserve(usageSubjectOf(actor), "runs", endsAt, { amount: 1, max })) return;
      const seconds = Math.ceil((limit.endsAt - clock.now()) / SECOND);
      throw new AppError(
        "too_many_runs",
        `${limitExceededMessage(limit, nameOf(actor), limit.endsAt)} Nothing was started. Start it again then, or ask the operator ` +
          "for more.",
        { headers: { "Retry-After": String(seconds) } },
      );
    },

    async assertRemaining(actor, kind) {
      const limit = limitFor(actor, kind);
      if (limit === undefined) return;
      if ((await read.usage.usedInWindow(usageSubjectOf(actor), kind, limit.endsAt)) < limit.max) return;
      throw new StepError("limit_reached", limitExceededMessage(limit, nameOf(actor), limit.endsAt), {
        fix: "Retry the run then (retry_run): what succeeded is kept. Or ask the operator for more.",
        // For who names it in retry.on: before that moment it would fail again.
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

/** Whose run it is, so that also who did not start it knows whom to ask. */
const nameOf = (who: LimitedActor): string =>
  isOperatorKey(who)
    ? `"${who.keyName}" of ${who.owner}`
    : `${who.owner} (all their keys and sessions together)`;

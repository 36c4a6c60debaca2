/** Holds keys and people to `limits.per_key`: what they use is counted in the transaction that uses it. */
import {
  allowanceOf,
  COUNTED,
  type Counted,
  endOfWindow,
  holderOf,
  isKeyOfNobody,
  isLimited,
  type PerKey,
  usedUp,
} from "../core/allowances.ts";
import { type Clock, SECOND } from "../core/clock.ts";
import type { AllowanceLeft } from "../core/engine-port.ts";
import { AppError } from "../core/errors.ts";
import type { EngineReaders, EngineWriters, RunActor } from "../core/run-ports.ts";
import { StepError } from "../core/step-errors.ts";

/** When to ask again for what ends at no known moment, in seconds. */
const ASK_AGAIN_S = 30;

type Who = Pick<RunActor, "lineage" | "owner" | "keyName">;

export interface Allowances {
  /**
   * Counts a run that somebody starts.
   * @throws AppError too_many_runs, and then nothing may be committed
   */
  takeRun(tx: Pick<EngineWriters, "usage" | "runs">, actor: Who): Promise<void>;
  /** @throws StepError limit_reached when nothing of this kind is left for the runs of `actor` */
  expectLeft(actor: Who, kind: Counted): Promise<void>;
  /** Counts what a step has used. It has it already: what goes beyond is counted too. */
  spend(
    tx: Pick<EngineWriters, "usage">,
    actor: Who,
    used: Partial<Readonly<Record<Counted, number>>>,
  ): Promise<void>;
  /** Everything that is limited, and how much of it is left. */
  left(actor: Pick<Who, "owner" | "lineage">): Promise<AllowanceLeft[]>;
}

/** @param perKey what the configuration allows; where it says nothing, nothing is written and nothing read */
export function allowances(
  perKey: PerKey,
  read: Pick<EngineReaders, "usage" | "runs">,
  clock: Clock,
): Allowances {
  const limitFor = (actor: Pick<Who, "lineage">, kind: Counted) => {
    const allowance = isLimited(actor) ? allowanceOf(perKey, kind) : undefined;
    return allowance && { ...allowance, endsAt: endOfWindow(allowance, clock.now()) };
  };

  async function takeUnfinished(tx: Pick<EngineWriters, "runs">, actor: Who): Promise<void> {
    const most = perKey.unfinished_runs;
    if (most === undefined || !isLimited(actor)) return;
    if ((await tx.runs.unfinishedOf(actor, most)) < most) return;
    throw new AppError(
      "too_many_runs",
      `${most} runs started by ${nameOf(actor)} are unfinished, and no more are taken from it ` +
        "(limits.per_key.unfinished_runs). Wait until some have ended, or cancel some: list_runs with status queued, " +
        "running or waiting shows them.",
      { headers: { "Retry-After": String(ASK_AGAIN_S) } },
    );
  }

  return {
    async takeRun(tx, actor) {
      await takeUnfinished(tx, actor);
      const limit = limitFor(actor, "runs");
      if (limit === undefined) return;
      const used = await tx.usage.add(holderOf(actor), "runs", limit.endsAt, 1);
      if (used <= limit.most) return;
      const seconds = Math.ceil((limit.endsAt - clock.now()) / SECOND);
      throw new AppError(
        "too_many_runs",
        `${usedUp(limit, nameOf(actor), limit.endsAt)} Nothing was started. Start it again then, or ask the operator ` +
          "for more.",
        { headers: { "Retry-After": String(seconds) } },
      );
    },

    async expectLeft(actor, kind) {
      const limit = limitFor(actor, kind);
      if (limit === undefined) return;
      if ((await read.usage.used(holderOf(actor), kind, limit.endsAt)) < limit.most) return;
      throw new StepError("limit_reached", usedUp(limit, nameOf(actor), limit.endsAt), {
        fix: "Retry the run then (retry_run): what succeeded is kept. Or ask the operator for more.",
        // For who names it in retry.on: before that moment it would fail again.
        retryAfterMs: limit.endsAt - clock.now(),
      });
    },

    async spend(tx, actor, used) {
      for (const kind of COUNTED) {
        const amount = used[kind] ?? 0;
        const limit = amount > 0 ? limitFor(actor, kind) : undefined;
        if (limit !== undefined) await tx.usage.add(holderOf(actor), kind, limit.endsAt, amount);
      }
    },

    async left(actor) {
      const windows = COUNTED.flatMap((kind) => {
        const limit = limitFor(actor, kind);
        return limit === undefined ? [] : [{ kind, ...limit }];
      });
      const counted = windows.map(async ({ kind, limit, most, endsAt }): Promise<AllowanceLeft> => {
        const used = await read.usage.used(holderOf(actor), kind, endsAt);
        return { limit, most, left: Math.max(0, most - used), endsAt };
      });
      const most = perKey.unfinished_runs;
      if (most === undefined || !isLimited(actor)) return Promise.all(counted);
      const unfinished = await read.runs.unfinishedOf(actor, most);
      return [
        { limit: "unfinished_runs", most, left: most - unfinished, endsAt: null },
        ...(await Promise.all(counted)),
      ];
    },
  };
}

/** Whose run it is, so that also who did not start it knows whom to ask. */
const nameOf = (who: Who): string =>
  isKeyOfNobody(who)
    ? `"${who.keyName}" of ${who.owner}`
    : `${who.owner} (all their keys and sessions together)`;

/**
 * Delivers events to subscriptions, and mails about them. Every executor does; each delivery is claimed by one. One that is slow
 * or fails takes few of the places, so that it delays nobody else.
 */
import type { Logger } from "pino";
import { type Clock, isAgreed, iso, MINUTE } from "../../../core/clock.ts";
import { isStorageUnavailable } from "../../../core/errors.ts";
import { type Meter, secondsSince } from "../../../core/meter.ts";
import type { EngineReaders, EngineTransaction, EngineWriters } from "../../../core/run-ports.ts";
import type { DeliveryRecord } from "../../../core/subscription-ports.ts";
import { heldFields } from "../../../core/mail-limits.ts";
import { oneAtATime } from "../../../core/once-per.ts";
import type { AttemptResult, HeldAttempt } from "./attempt.ts";
import { deliveryPause, MAX_PENDING, PAUSE_AFTER_MS } from "./schedule.ts";

/** Maximum number of deliveries that an executor attempts at a time: of all, of one owner, and of one subscription. */
const PLACES = { all: 32, owner: 8, queue: 2 } as const;
/** How long a claim lasts, longer than any attempt: the deliveries of an executor that died are released before. */
const CLAIM_MS = MINUTE;

interface Options {
  /** The id of the executor. */
  executor: string;
  read: Pick<EngineReaders, "deliveryQueue">;
  transaction: EngineTransaction;
  clock: Clock;
  log: Pick<Logger, "info" | "warn">;
  meter: Meter;
  /** Multiplies the pauses between attempts; tests do not wait for them. */
  pauseFactor?: number | undefined;
  attempt(delivery: DeliveryRecord, stopping: AbortSignal): Promise<AttemptResult | HeldAttempt | undefined>;
}

export interface Deliverer {
  /** Begins to deliver what is due. Called by a timer, and by tests. @returns how many it began */
  deliverDue(): Promise<number>;
  /** Resolves when no attempt is running. */
  idle(): Promise<void>;
  /** Begins nothing more, and gives attempts back that still run after the grace period (milliseconds). */
  stop(graceMs: number): Promise<void>;
}

export function deliverer(options: Options): Deliverer {
  const { executor, read, transaction, clock, log, meter, attempt, pauseFactor = 1 } = options;
  const running = new Map<Promise<void>, { queue: string; subject: string }>();
  const stopping = new AbortController();
  let isStopped = false;
  /** The queue that was claimed from last, so that all have their turn. */
  let lastQueue = "";

  const countOf = (field: "queue" | "subject", value: string): number =>
    [...running.values()].filter((one) => one[field] === value).length;

  async function claimDue(): Promise<number> {
    // With a wrong clock the other executors deliver.
    if (isStopped || running.size >= PLACES.all || !isAgreed(clock)) return 0;
    const now = clock.now();
    const due = (await read.deliveryQueue.dueQueues(iso(now))).toSorted((a, b) =>
      a.queue < b.queue ? -1 : 1,
    );
    const turn = due.findIndex(({ queue }) => queue > lastQueue);
    const inTurn = turn < 0 ? due : [...due.slice(turn), ...due.slice(0, turn)];
    let count = 0;
    for (const { queue, subject } of inTurn) {
      const limit = Math.min(
        PLACES.all - running.size,
        PLACES.owner - countOf("subject", subject),
        PLACES.queue - countOf("queue", queue),
      );
      if (limit <= 0) continue;
      const claimed = await transaction((tx) =>
        tx.deliveryQueue.claim(queue, { now: iso(now), until: iso(now + CLAIM_MS), by: executor, limit }),
      );
      lastQueue = queue;
      count += claimed.length;
      for (const delivery of claimed) begin(delivery, { queue, subject });
    }
    return count;
  }

  function begin(delivery: DeliveryRecord, place: { queue: string; subject: string }): void {
    const work: Promise<void> = deliver(delivery)
      .catch((err: unknown) => {
        // The claim ends by itself, and the delivery is attempted again.
        log.warn({ err, delivery_id: delivery.id }, "outcome of a delivery not recorded");
      })
      .finally(() => {
        running.delete(work);
        if (!isStopped) void poll().catch(() => 0);
      });
    running.set(work, place);
  }

  async function deliver(delivery: DeliveryRecord): Promise<void> {
    const start = performance.now();
    const result = await attempt(delivery, stopping.signal).catch((error: unknown) => {
      if (!stopping.signal.aborted) throw error;
      return "given_back" as const;
    });
    if (result === undefined) return;
    if (result === "given_back") return void (await transaction((tx) => giveBack(tx, delivery, clock.now())));
    if ("held" in result) {
      await transaction((tx) => giveBack(tx, delivery, result.held.until!));
      return log.warn({ delivery_id: delivery.id, ...heldFields(result.held) }, "mail waits for a limit");
    }
    const ms = Math.round(performance.now() - start);
    await transaction((tx) => record(tx, delivery, { ...result, ms }));
    const { type } = delivery.event;
    const seconds = secondsSince(start);
    meter.deliveryAttempted({ event: type, outcome: result.succeeded ? "delivered" : "failed", seconds });
    const fields = {
      delivery_id: delivery.id,
      subscription_id: delivery.subscriptionId,
      event: type,
      attempt: delivery.attempts,
      status: result.status,
      ms,
    };
    if (result.succeeded) log.info(fields, "event delivered");
    else log.warn({ ...fields, reason: result.error }, "event not delivered");
  }

  /** @param due when it may be attempted, in milliseconds since 1970 */
  const giveBack = async (tx: EngineWriters, delivery: DeliveryRecord, due: number): Promise<boolean> => {
    const at = iso(clock.now());
    const { status, response, error, ms } = delivery;
    const outcome = {
      state: "pending",
      dueAt: iso(due),
      at,
      status,
      response,
      error,
      ms,
      uncounted: true,
    } as const;
    return tx.deliveryQueue.recordAttempt(delivery, outcome);
  };

  async function record(
    tx: EngineWriters,
    delivery: DeliveryRecord,
    { succeeded, status, response, error, retryAfterMs, gone, ms }: AttemptResult & { ms: number },
  ): Promise<void> {
    const { deliveryQueue: queue } = tx;
    const now = clock.now();
    const at = iso(now);
    const pause = succeeded ? undefined : deliveryPause(delivery.attempts, retryAfterMs);
    const isOver = succeeded || pause === undefined || gone === true;
    const applied = await queue.recordAttempt(delivery, {
      state: succeeded ? "delivered" : isOver ? "failed" : "pending",
      dueAt: isOver ? null : iso(now + pause * pauseFactor),
      at,
      status,
      response,
      error,
      ms,
    });
    const { subscriptionId: id } = delivery;
    if (!applied || id === null) return;
    if (succeeded) return queue.succeeded(id, at);
    const since = await queue.failed(id, at);
    if (since === undefined) return;
    const reason = await pauseReason(tx, id, { since, now, gone: gone === true });
    if (reason === undefined || !(await queue.pauseSubscription(id, at, reason))) return;
    tx.onCommit(() => log.warn({ subscription_id: id, reason }, "subscription paused"));
  }

  const poll = oneAtATime(claimDue);

  const idle = async (): Promise<void> => {
    while (running.size > 0) await Promise.all(running.keys());
  };

  return {
    async deliverDue() {
      try {
        return await poll();
      } catch (error) {
        if (isStorageUnavailable(error)) throw error;
        log.warn({ err: error }, "poll of deliveries failed");
        return 0;
      }
    },
    idle,
    async stop(graceMs) {
      isStopped = true;
      await poll().catch(() => 0);
      const timer = setTimeout(() => stopping.abort(), graceMs);
      await idle();
      clearTimeout(timer);
    },
  };
}

/** Why a subscription that fails is paused; undefined while it is not. */
async function pauseReason(
  { deliveryQueue }: EngineWriters,
  id: string,
  { since, now, gone }: { since: string; now: number; gone: boolean },
): Promise<string | undefined> {
  if (gone) return "The receiver answered 410 Gone: it wants no more deliveries.";
  if (now - Date.parse(since) >= PAUSE_AFTER_MS) return `Every attempt has failed since ${since}.`;
  if ((await deliveryQueue.countPending(id, MAX_PENDING)) >= MAX_PENDING)
    return `${MAX_PENDING} deliveries were pending while attempts failed.`;
  return undefined;
}

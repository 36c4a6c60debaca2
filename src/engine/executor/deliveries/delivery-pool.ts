/**
 * The deliveries that an executor handles at a time: those that triggers have received, or those to subscriptions. Owners take turns,
 * and what one may hold shrinks with what is free (core/fair-share.ts). So an owner whose deliveries are slow delays nobody else.
 */
import { type Clock, isAgreed, iso } from "../../../core/clock.ts";
import type {
  ClaimableQueue,
  DeliveryClaim,
  DueQueue,
  DueQueueReader,
} from "../../../core/delivery-queue-ports.ts";
import { turnCounter } from "../../../core/fair-queue.ts";
import { mayTakePlace } from "../../../core/fair-share.ts";

/** Maximum number of deliveries that are handled at a time: of all, of one owner, and of one queue. */
export interface Places {
  all: number;
  owner: number;
  queue: number;
}

interface Options<T> {
  /** The id of the executor. */
  executor: string;
  read: DueQueueReader;
  /** Claims from several queues in one transaction. */
  claim(claims: (queue: Pick<ClaimableQueue<T>, "claim">) => Promise<Claimed<T>[]>): Promise<Claimed<T>[]>;
  clock: Clock;
  places: Places;
  /** How long a claim lasts, in milliseconds. */
  claimMs: number;
  /** Handles a delivery and records how that ended. Must not throw. */
  handle(delivery: T): Promise<void>;
}

interface Claimed<T> extends DueQueue {
  delivery: T;
}

export interface DeliveryPool {
  /** Begins to handle what is due. A call while another one claims is joined. @returns how many it began */
  beginDue(): Promise<number>;
  /** Resolves when nothing is handled. */
  idle(): Promise<void>;
  /** Begins nothing more. */
  stop(): Promise<void>;
}

export function deliveryPool<T>(options: Options<T>): DeliveryPool {
  const { executor, read, clock, places, claimMs } = options;
  const running = new Map<Promise<void>, DueQueue>();
  const turns = { subject: turnCounter(), queue: turnCounter() };
  const state = { isAskedAgain: false, isStopped: false };
  let claiming: Promise<number> | undefined;

  /** How many to claim from each queue: one place after the other, to the owner whose last turn is the longest ago. */
  function share(due: readonly DueQueue[]): Map<DueQueue, number> {
    const shares = new Map<DueQueue, number>();
    const held = { subject: countBy("subject"), queue: countBy("queue") };
    let free = places.all - running.size;
    const mayHold = ({ subject, queue }: DueQueue): boolean =>
      held.queue(queue) < places.queue &&
      held.subject(subject) < places.owner &&
      mayTakePlace({ held: held.subject(subject), free });
    for (;;) {
      let next: DueQueue | undefined;
      for (const one of due) if (mayHold(one) && (next === undefined || isBefore(one, next))) next = one;
      if (next === undefined) return shares;
      for (const field of ["subject", "queue"] as const) {
        turns[field].take(next[field]);
        held[field].add(next[field]);
      }
      shares.set(next, (shares.get(next) ?? 0) + 1);
      free -= 1;
    }
  }

  const isBefore = (one: DueQueue, other: DueQueue): boolean =>
    one.subject === other.subject
      ? turns.queue.last(one.queue) < turns.queue.last(other.queue)
      : turns.subject.last(one.subject) < turns.subject.last(other.subject);

  /** Counts what is held, by owner or by queue. */
  function countBy(field: keyof DueQueue): ((value: string) => number) & { add(value: string): void } {
    const counts = new Map<string, number>();
    const count = (value: string): number => counts.get(value) ?? 0;
    const add = (value: string): void => void counts.set(value, count(value) + 1);
    for (const one of running.values()) add(one[field]);
    return Object.assign(count, { add });
  }

  async function claimAll(): Promise<number> {
    let count = 0;
    do {
      state.isAskedAgain = false;
      for (;;) {
        // With a wrong clock the other executors handle them.
        if (state.isStopped || running.size >= places.all || !isAgreed(clock)) return count;
        const now = clock.now();
        const shares = share(await read.dueQueues(iso(now)));
        if (shares.size === 0) break;
        const claimed = await claimShares(shares, {
          now: iso(now),
          until: iso(now + claimMs),
          by: executor,
        });
        if (claimed.length === 0) break;
        for (const { delivery, subject, queue } of claimed) begin(delivery, { subject, queue });
        count += claimed.length;
      }
    } while (state.isAskedAgain);
    return count;
  }

  const claimShares = (
    shares: ReadonlyMap<DueQueue, number>,
    claim: Omit<DeliveryClaim, "limit">,
  ): Promise<Claimed<T>[]> =>
    options.claim(async (queues) => {
      const claimed: Claimed<T>[] = [];
      for (const [{ queue, subject }, limit] of shares)
        for (const delivery of await queues.claim(queue, { ...claim, limit }))
          claimed.push({ queue, subject, delivery });
      return claimed;
    });

  function begin(delivery: T, place: DueQueue): void {
    const work: Promise<void> = options.handle(delivery).finally(() => {
      running.delete(work);
      // What can't be read now is claimed at the next poll.
      if (!state.isStopped) beginDue().catch(() => 0);
    });
    running.set(work, place);
  }

  function beginDue(): Promise<number> {
    state.isAskedAgain = true;
    claiming ??= claimAll().finally(() => (claiming = undefined));
    return claiming;
  }

  return {
    beginDue,
    async idle() {
      while (running.size > 0) await Promise.all(running.keys());
    },
    async stop() {
      state.isStopped = true;
      await claiming?.catch(() => 0);
    },
  };
}

/** A queue in which owners take turns: one with many items delays another by one item only. */
export interface FairQueue<T> {
  add(owner: string, item: T): void;
  /**
   * Takes the oldest item of the owner whose last turn is the longest ago.
   * @param mayTake owners for which it is false are passed over and keep their turn
   * @returns undefined if no item can be taken
   */
  take(mayTake?: (owner: string) => boolean): T | undefined;
  remove(owner: string, item: T): void;
  /** Returns the number of items of an owner. */
  countOf(owner: string): number;
}

/** Number of owners whose last turns are remembered. */
const MAX_TURNS = 10_000;

/** Remembers who had a turn last. */
export interface TurnCounter {
  /** The number of somebody's last turn; 0 for none. */
  last(name: string): number;
  take(name: string): void;
}

export function turnCounter(): TurnCounter {
  /** Oldest first. */
  const turns = new Map<string, number>();
  let lastTurn = 0;
  return {
    last: (name) => turns.get(name) ?? 0,
    take(name) {
      lastTurn += 1;
      turns.delete(name);
      turns.set(name, lastTurn);
      if (turns.size > MAX_TURNS) turns.delete(turns.keys().next().value!);
    },
  };
}

export function fairQueue<T>(): FairQueue<T> {
  /** By owner, in the order in which they began to wait. */
  const queues = new Map<string, T[]>();
  /** An owner whose queue was empty for a moment must not go first. */
  const turns = turnCounter();

  return {
    add(owner, item) {
      const queue = queues.get(owner);
      if (queue === undefined) queues.set(owner, [item]);
      else queue.push(item);
    },

    take(mayTake = () => true) {
      let next: string | undefined;
      for (const owner of queues.keys())
        if ((next === undefined || turns.last(owner) < turns.last(next)) && mayTake(owner)) next = owner;
      if (next === undefined) return undefined;
      turns.take(next);
      const queue = queues.get(next)!;
      const item = queue.shift();
      if (queue.length === 0) queues.delete(next);
      return item;
    },

    remove(owner, item) {
      const rest = (queues.get(owner) ?? []).filter((other) => other !== item);
      if (rest.length > 0) queues.set(owner, rest);
      else queues.delete(owner);
    },

    countOf: (owner) => queues.get(owner)?.length ?? 0,
  };
}

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

export function fairQueue<T>(): FairQueue<T> {
  /** By owner, in the order in which they began to wait. */
  const queues = new Map<string, T[]>();
  /** The number of the last turn, by owner, oldest first: an owner whose queue was empty for a moment must not go first. */
  const turns = new Map<string, number>();
  let lastTurn = 0;

  function recordTurn(owner: string): void {
    lastTurn += 1;
    turns.delete(owner);
    turns.set(owner, lastTurn);
    if (turns.size > MAX_TURNS) turns.delete(turns.keys().next().value!);
  }

  const turnOf = (owner: string): number => turns.get(owner) ?? 0;

  return {
    add(owner, item) {
      const queue = queues.get(owner);
      if (queue === undefined) queues.set(owner, [item]);
      else queue.push(item);
    },

    take(mayTake = () => true) {
      let next: string | undefined;
      for (const owner of queues.keys())
        if ((next === undefined || turnOf(owner) < turnOf(next)) && mayTake(owner)) next = owner;
      if (next === undefined) return undefined;
      recordTurn(next);
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

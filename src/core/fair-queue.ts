/** A queue in which owners take turns: one with many items delays another by one item only. */
export interface FairQueue<T> {
  add(owner: string, item: T): void;
  /**
   * Takes the oldest item of the owner whose turn it is.
   * @param mayTake owners for which it is false are passed over and keep their turn
   * @returns undefined if no item can be taken
   */
  take(mayTake?: (owner: string) => boolean): T | undefined;
  remove(owner: string, item: T): void;
  /** Returns the number of items of an owner. */
  countOf(owner: string): number;
}

export function fairQueue<T>(): FairQueue<T> {
  /** By owner, in the order of their turns. */
  const queues = new Map<string, T[]>();
  return {
    add(owner, item) {
      const queue = queues.get(owner);
      if (queue === undefined) queues.set(owner, [item]);
      else queue.push(item);
    },

    take(mayTake = () => true) {
      for (const [owner, queue] of queues) {
        if (!mayTake(owner)) continue;
        const item = queue.shift();
        // Behind the others.
        queues.delete(owner);
        if (queue.length > 0) queues.set(owner, queue);
        return item;
      }
      return undefined;
    },

    remove(owner, item) {
      const rest = (queues.get(owner) ?? []).filter((other) => other !== item);
      if (rest.length > 0) queues.set(owner, rest);
      else queues.delete(owner);
    },

    countOf: (owner) => queues.get(owner)?.length ?? 0,
  };
}

/** A pool of places that its owners share by the rule of core/fair-share.ts, and wait for in turns. */
import type { CallContext } from "../core/connections.ts";
import { mayTakePlaces } from "../core/fair-share.ts";

export interface FairPool {
  /**
   * Runs a task that occupies places. A task that must wait gets them in turns with the tasks of other owners, and in the
   * order in which it came among those of its own.
   * @param places how many it occupies, at most the size of the pool; left out, one
   * @throws the reason of the signal, as soon as it is aborted while the task waits
   */
  run<T>(call: CallContext, task: () => Promise<T>, places?: number): Promise<T>;
}

interface Waiting {
  places: number;
  start(): void;
}

/** @param size number of places */
export function createFairPool(size: number): FairPool {
  let free = size;
  const held = new Map<string, number>();
  /** The owners whose turn comes next stand first. */
  const queues = new Map<string, Waiting[]>();

  function mayTake(owner: string, places: number): boolean {
    const holds = held.get(owner) ?? 0;
    if (places > free) return false;
    return holds === 0 || mayTakePlaces(places, { held: holds, free });
  }

  function take(owner: string, places: number): void {
    free -= places;
    held.set(owner, (held.get(owner) ?? 0) + places);
  }

  function giveBack(owner: string, places: number): void {
    free += places;
    const left = held.get(owner)! - places;
    if (left === 0) held.delete(owner);
    else held.set(owner, left);
    startWaiting();
  }

  function startWaiting(): void {
    for (let next = nextOwner(); next !== undefined; next = nextOwner()) {
      const queue = queues.get(next)!;
      const { places, start } = queue.shift()!;
      queues.delete(next);
      if (queue.length > 0) queues.set(next, queue);
      take(next, places);
      start();
    }
  }

  /** The owner whose first task starts now. Nobody overtakes an owner who holds nothing and needs more than is free. */
  function nextOwner(): string | undefined {
    for (const [owner, [first]] of queues) {
      if (mayTake(owner, first!.places)) return owner;
      if (!held.has(owner)) return undefined;
    }
    return undefined;
  }

  function turn(owner: string, places: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const queue = queues.get(owner) ?? [];
      const leave = (): void => {
        queue.splice(queue.indexOf(waiting), 1);
        if (queue.length === 0 && queues.get(owner) === queue) queues.delete(owner);
        reject(signal.reason as Error);
        // It may have been the one that nobody could overtake.
        startWaiting();
      };
      const waiting: Waiting = {
        places,
        start() {
          signal.removeEventListener("abort", leave);
          resolve();
        },
      };
      queue.push(waiting);
      queues.set(owner, queue);
      signal.addEventListener("abort", leave, { once: true });
      startWaiting();
    });
  }

  return {
    async run({ owner, signal }, task, places = 1) {
      signal.throwIfAborted();
      await turn(owner, places, signal);
      try {
        signal.throwIfAborted();
        return await task();
      } finally {
        giveBack(owner, places);
      }
    },
  };
}

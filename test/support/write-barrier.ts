/** A state whose writes wait until they are let go: for what happens in between. */
import type { TestInstance } from "./instance.ts";

export interface WriteBarrier {
  hold(): void;
  release(): void;
  /** How many wait. */
  pendingCount(): number;
  /** How many have been carried out since. */
  completedCount(): number;
}

/** Call it before the listeners are started: they take the store as it is then. */
export function installWriteBarrier({ store }: TestInstance): WriteBarrier {
  const original = store.transaction;
  let gate: PromiseWithResolvers<void> | undefined;
  let waiting = 0;
  let done = 0;
  store.transaction = async (work) => {
    if (gate !== undefined) {
      waiting += 1;
      await gate.promise;
      waiting -= 1;
    }
    return original(work).finally(() => (done += 1));
  };
  return {
    hold() {
      gate ??= Promise.withResolvers();
      done = 0;
    },
    release() {
      gate?.resolve();
      gate = undefined;
    },
    pendingCount: () => waiting,
    completedCount: () => done,
  };
}

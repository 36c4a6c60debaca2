/** A store whose writes wait until the test releases them. */
import type { TestInstance } from "./instance.ts";

export interface WriteBarrier {
  hold(): void;
  release(): void;
  /** The number of waiting writes. */
  pendingCount(): number;
  /** The number of writes that have run since. */
  completedCount(): number;
}

/** Call it before the listeners start, because they keep the store's functions. */
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

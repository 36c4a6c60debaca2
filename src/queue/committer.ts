/** Many small changes, few commits: what comes while one commit is under way goes into the next together. */
import type { EngineTransaction, EngineWriters } from "../core/run-ports.ts";

type Change<T> = (tx: EngineWriters) => Promise<T>;

interface Waiting {
  change: Change<unknown>;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

export interface Committer {
  /** Commits a change, perhaps with others'. One that fails takes none of the others with it. */
  commit<T>(change: Change<T>): Promise<T>;
}

/** How many changes go into one commit: so long others wait for the lock. */
const MOST = 64;

export function committer(transaction: EngineTransaction): Committer {
  let waiting: Waiting[] = [];
  let busy = false;

  async function alone({ change, resolve, reject }: Waiting): Promise<void> {
    await transaction(change).then(resolve, reject);
  }

  async function together(batch: readonly Waiting[]): Promise<void> {
    const values: unknown[] = [];
    try {
      await transaction(async (tx) => {
        for (const { change } of batch) values.push(await change(tx));
      });
    } catch {
      // All were rolled back for one: each gets a transaction of its own, and its own error.
      for (const it of batch) await alone(it);
      return;
    }
    batch.forEach(({ resolve }, index) => resolve(values[index]));
  }

  async function drain(): Promise<void> {
    busy = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MOST);
      waiting = waiting.slice(MOST);
      await (batch.length === 1 ? alone(batch[0]!) : together(batch));
    }
    busy = false;
  }

  return {
    commit: <T>(change: Change<T>) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ change, resolve, reject });
        // Not at once: what else this turn of the event loop brings goes along.
        if (!busy) {
          busy = true;
          queueMicrotask(() => void drain());
        }
      }),
  };
}

/** Commits many small changes in few transactions: changes that arrive during a commit share the next one. */
import type { EngineTransaction, EngineWriters } from "../core/run-ports.ts";

type Change<T> = (tx: EngineWriters) => Promise<T>;

interface PendingChange {
  change: Change<unknown>;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

export interface Committer {
  /** Commits a change, possibly together with others. If it fails, only this call rejects. */
  commit<T>(change: Change<T>): Promise<T>;
}

/** Maximum number of changes in one transaction: other processes wait for the lock meanwhile. */
const MAX_BATCH = 64;

export function committer(transaction: EngineTransaction): Committer {
  let pending: PendingChange[] = [];
  let committing = false;

  const commitOne = ({ change, resolve, reject }: PendingChange): Promise<void> =>
    transaction(change).then(resolve, reject);

  async function commitBatch(batch: readonly PendingChange[]): Promise<void> {
    const values: unknown[] = [];
    try {
      await transaction(async (tx) => {
        // The transaction may run more than once, so the values of an earlier run are dropped.
        values.length = 0;
        for (const { change } of batch) values.push(await change(tx));
      });
    } catch {
      // One failure has rolled back all changes, so each gets a transaction of its own.
      for (const pendingChange of batch) await commitOne(pendingChange);
      return;
    }
    batch.forEach(({ resolve }, index) => resolve(values[index]));
  }

  async function commitPending(): Promise<void> {
    while (pending.length > 0) {
      const batch = pending.slice(0, MAX_BATCH);
      pending = pending.slice(MAX_BATCH);
      await (batch.length === 1 ? commitOne(batch[0]!) : commitBatch(batch));
    }
    committing = false;
  }

  return {
    commit: <T>(change: Change<T>) =>
      new Promise<T>((resolve, reject) => {
        pending.push({ change, resolve, reject });
        if (committing) return;
        committing = true;
        // Deferred, so that other changes of this turn of the event loop join the batch.
        queueMicrotask(() => void commitPending());
      }),
  };
}

/**
 * Commits many small changes in few transactions: changes that arrive during a commit share the next one. Where several
 * transactions run at the same time, only changes of one run do so: those of others would wait for each other's locks.
 */
import pLimit from "p-limit";
import type { EngineTransaction, EngineWriters } from "../core/run-ports.ts";

type Change<T> = (tx: EngineWriters) => Promise<T>;

interface PendingChange {
  change: Change<unknown>;
  size: number;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

interface CommitOptions {
  /**
   * About how many bytes the change stores: a large one waits for the small ones, and has its own transaction; after a very
   * large one there is a pause, in which small ones do not wait.
   */
  size?: number | undefined;
  /** The run that the change locks; left out, none. */
  runId?: string;
}

export interface Committer {
  /** Commits a change, possibly together with others. If it fails, only this call rejects. */
  commit<T>(change: Change<T>, options?: CommitOptions): Promise<T>;
  /** The number of runs with changes that are not committed yet, where each has transactions of its own. */
  queueCount(): number;
}

/** Maximum number of changes in one transaction: other processes wait for the lock meanwhile. */
const MAX_BATCH = 64;
/** Size from which on a change is large, in bytes. A batch of smaller ones stores 1 MiB at most. */
const LARGE_BYTES = 16 * 1024;
/** Size from which on a change is very large, in bytes: it can block the event loop and the disk for 100 ms. */
const VERY_LARGE_BYTES = 256 * 1024;
/** How many times its own duration no other large change follows a very large one, so that small ones rarely wait. */
const PAUSE_FACTOR = 4;

/** @param maxTransactions how many write transactions of the database run at the same time */
export function committer(transaction: EngineTransaction, maxTransactions = 1): Committer {
  const shared = commitQueue(transaction);
  if (maxTransactions === 1) {
    return { commit: (change, { size } = {}) => shared.commit(change, size), queueCount: () => 0 };
  }
  // One stays free for heartbeats and claims.
  const limit = pLimit(maxTransactions - 1);
  const limited: EngineTransaction = (work) => limit(() => transaction(work));
  const byRun = new Map<string, CommitQueue>();
  return {
    async commit(change, { size, runId } = {}) {
      if (runId === undefined) return shared.commit(change, size);
      let queue = byRun.get(runId);
      if (queue === undefined) {
        queue = commitQueue(limited, () => byRun.delete(runId));
        byRun.set(runId, queue);
      }
      return queue.commit(change, size);
    },
    queueCount: () => byRun.size,
  };
}

interface CommitQueue {
  commit<T>(change: Change<T>, size?: number): Promise<T>;
}

/** Has one transaction at a time. @param onIdle called when nothing is left to commit */
function commitQueue(transaction: EngineTransaction, onIdle: () => void = () => {}): CommitQueue {
  const small: PendingChange[] = [];
  const large: PendingChange[] = [];
  let committing = false;
  /** When the next large change may be committed, in milliseconds of performance.now(). */
  let nextLargeAt = 0;
  let pause: NodeJS.Timeout | undefined;

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

  async function commitLarge(next: PendingChange): Promise<void> {
    const startedAt = performance.now();
    await commitOne(next);
    const endedAt = performance.now();
    if (next.size >= VERY_LARGE_BYTES) nextLargeAt = endedAt + PAUSE_FACTOR * (endedAt - startedAt);
  }

  const isLargeDue = (): boolean => large.length > 0 && performance.now() >= nextLargeAt;

  /** A small change waits for one large one at most. */
  async function commitPending(): Promise<void> {
    clearTimeout(pause);
    while (small.length > 0 || isLargeDue()) {
      const batch = small.splice(0, MAX_BATCH);
      if (batch.length > 1) await commitBatch(batch);
      else if (batch.length === 1) await commitOne(batch[0]!);
      if (isLargeDue()) await commitLarge(large.shift()!);
    }
    committing = false;
    if (large.length > 0) pause = setTimeout(start, Math.max(nextLargeAt - performance.now(), 0));
    else onIdle();
  }

  function start(): void {
    if (committing) return;
    committing = true;
    // After the callbacks of this turn of the event loop, so that the changes of all answers that have arrived share a commit.
    setImmediate(() => void commitPending());
  }

  return {
    commit: <T>(change: Change<T>, size = 0) =>
      new Promise<T>((resolve, reject) => {
        const queue = size < LARGE_BYTES ? small : large;
        queue.push({ change, size, resolve, reject });
        start();
      }),
  };
}

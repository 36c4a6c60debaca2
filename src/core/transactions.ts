/** The types that all transactions share, for every database. */

/**
 * The result of a compare-and-set: true when this transaction made the change; false when another one came first and this
 * one changed nothing. Callers must use it (test/checks/compare-and-set.test.ts).
 */
export type Applied = boolean;

/** The request that a transaction belongs to, and its callbacks after the commit. */
export interface TransactionScope {
  /** The id of the request; null for the engine's own transactions. */
  requestId: string | null;
  /** Runs `callback` after the commit, to log or to count. A rolled-back transaction drops its callbacks. */
  onCommit(callback: () => void): void;
}

/** Whether others that share the lock can hold it at the same time. */
export type LockMode = "shared" | "exclusive";

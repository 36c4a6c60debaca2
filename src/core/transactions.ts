/** What every transaction guarantees, whichever database holds the state. */

/**
 * The result of a compare-and-set: true when this transaction made the change, false when another one was faster and
 * nothing was changed. Callers must use it (test/checks/compare-and-set.test.ts).
 */
export type Applied = boolean;

/** The request that a transaction belongs to, and what follows its commit. */
export interface TransactionScope {
  /** The id of the request; null for the engine's own transactions. */
  requestId: string | null;
  /** Runs `callback` after the commit, to log or to count. A rolled-back transaction drops its callbacks. */
  onCommit(callback: () => void): void;
}

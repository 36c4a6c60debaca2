/** Finds out which transactions write something that has no row locks, so that they need the database to themselves. */

/** The transaction is to be repeated with the lock of the database. */
export class DatabaseLockNeeded extends Error {}

export interface LockGuard {
  /**
   * Guards the writer of a port without row locks: its methods that write reject.
   * @param reader returns the port's reader, whose methods need no lock
   */
  guard<W extends object>(writer: W, reader: () => object): W;
  /**
   * Runs what uses the guarded writers.
   * @throws DatabaseLockNeeded when it has called a method that writes, also when it has caught that error
   */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** For transactions that need no guard. */
export const noGuard: LockGuard = { guard: (writer) => writer, run: (work) => work() };

/** A guard for one transaction. */
export function lockGuard(): LockGuard {
  let needed = false;
  const refuse = (): Promise<never> => {
    needed = true;
    return Promise.reject(new DatabaseLockNeeded());
  };
  return {
    guard(writer, reader) {
      const readable = reader();
      const methods = Object.entries(writer).map(([name, method]) => [
        name,
        name in readable ? (method as unknown) : refuse,
      ]);
      return Object.fromEntries(methods) as typeof writer;
    },
    async run(work) {
      try {
        return await work();
      } finally {
        // oxlint-disable-next-line no-unsafe-finally -- it replaces the error, or the result
        if (needed) throw new DatabaseLockNeeded();
      }
    },
  };
}

import pLimit from "p-limit";

/**
 * Limits how many tasks run at the same time. Further tasks wait in the order in which they came, up to a maximum.
 * @param concurrency maximum number of running tasks
 * @param maxWaiting maximum number of waiting tasks
 * @param tooMany creates the error for a task that is one too many
 */
export function concurrencyLimiter(concurrency: number, maxWaiting: number, tooMany: () => Error) {
  const limit = pLimit(concurrency);
  /** @throws the error of `tooMany`, if a further task would be refused */
  const assertCapacity = (): void => {
    if (limit.activeCount >= concurrency && limit.pendingCount >= maxWaiting) throw tooMany();
  };
  const run = async <T>(task: () => Promise<T>): Promise<T> => {
    assertCapacity();
    return limit(task);
  };
  return Object.assign(run, { assertCapacity });
}

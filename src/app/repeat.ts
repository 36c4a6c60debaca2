/** Repeats work at intervals of `ms` milliseconds, unless its last call is still running. @returns a function that ends it */
export function repeat(
  ms: number,
  work: () => Promise<unknown>,
  onError: (error: unknown) => void,
): () => void {
  let isRunning = false;
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    void work()
      .catch(onError)
      .finally(() => (isRunning = false));
  }, ms).unref();
  return () => clearInterval(timer);
}

interface Repetition {
  /** Interval in milliseconds. */
  ms: number;
  /** When the first call is, in milliseconds from now; default: after one interval. */
  firstMs?: number;
  work(): Promise<unknown>;
  onError(error: unknown): void;
}

/** Begins to repeat work. @returns a function that ends it */
export type Repeat = (repetition: Repetition) => () => void;

/** Repeats work by a timer, unless its last call is still running. */
export const repeat: Repeat = ({ ms, firstMs = ms, work, onError }) => {
  let isRunning = false;
  let timer = setTimeout(turn, firstMs).unref();
  function turn(): void {
    timer = setTimeout(turn, ms).unref();
    if (isRunning) return;
    isRunning = true;
    void work()
      .catch(onError)
      .finally(() => (isRunning = false));
  }
  return () => clearTimeout(timer);
};

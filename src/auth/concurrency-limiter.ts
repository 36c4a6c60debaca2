/**
 * Lets `most` pieces of work go on at a time, and `waiting` wait, in the order they came.
 * @param full the error that one too many gets
 */
export function concurrencyLimiter(most: number, waiting: number, full: () => Error) {
  let free = most;
  const queue: (() => void)[] = [];

  /** @throws the error of one too many, if one would be */
  const room = (): void => {
    if (free === 0 && queue.length >= waiting) throw full();
  };
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    room();
    if (free > 0) free -= 1;
    else {
      // Who goes hands its slot to the next: it never becomes free in between.
      await new Promise<void>((resolve) => queue.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
  return Object.assign(inTurn, { room });
}

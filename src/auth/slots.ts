/**
 * Lets `most` pieces of work go on at a time, and `waiting` wait, in the order they came.
 * @param full the error that one too many gets
 */
export function slots(most: number, waiting: number, full: () => Error) {
  let free = most;
  const queue: (() => void)[] = [];

  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1;
    else {
      if (queue.length >= waiting) throw full();
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
}

/** At most so many at a time, in the order in which they came. */
export function limiter(most: number): <T>(work: () => T | Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running < most) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The place goes over to the next one.
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

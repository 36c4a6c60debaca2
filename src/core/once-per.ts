/** Results that are computed once, or for several callers. */

/**
 * Makes a function compute its result once for each argument, and keep it for as long as the argument exists.
 * @param compute its result must depend on nothing else, and nobody may change it
 */
export function oncePer<A extends object, R extends object>(compute: (argument: A) => R): (argument: A) => R {
  const results = new WeakMap<A, R>();
  return (argument) => {
    const known = results.get(argument);
    if (known !== undefined) return known;
    const result = compute(argument);
    results.set(argument, result);
    return result;
  };
}

/**
 * Makes all callers share one result: that of a call that runs, or that ended less than `ms` milliseconds ago. So callers can't make
 * it run more often.
 * @param compute must not reject
 */
export function sharedFor<R>(
  ms: number,
  compute: () => Promise<R>,
  now: () => number = () => performance.now(),
): () => Promise<R> {
  let last: { result: Promise<R>; until: number } | undefined;
  return () => {
    if (last !== undefined && now() < last.until) return last.result;
    const result = compute();
    const current = { result, until: Infinity };
    last = current;
    void result.then(() => (current.until = now() + ms));
    return result;
  };
}

/**
 * Makes work run once at a time. A call that comes meanwhile is answered by a turn that begins after it, so it never misses what
 * has become due; all calls that come during one turn share the next one.
 * @param work returns how much it did
 * @returns a function that returns how much was done since the work began
 */
export function oneAtATime(work: () => Promise<number>): () => Promise<number> {
  let running: Promise<number> | undefined;
  let isAskedAgain = false;
  async function runTurns(): Promise<number> {
    try {
      let count = 0;
      do {
        isAskedAgain = false;
        count += await work();
      } while (isAskedAgain);
      return count;
    } finally {
      running = undefined;
    }
  }
  return () => {
    isAskedAgain = running !== undefined;
    running ??= runTurns();
    return running;
  };
}

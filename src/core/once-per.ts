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

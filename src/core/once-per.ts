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
    const end = (): void => void (current.until = now() + ms);
    result.then(end, end);
    return result;
  };
}

/**
 * Makes work run once at a time. A call that comes during a turn is answered by the next one, which all such calls share: it begins
 * after them, so they never miss what has become due.
 * @param work returns how much it did
 * @returns a function that returns how much was done while its caller waited: by the turn that was running, too, unless it failed
 */
export function oneAtATime(work: () => Promise<number>): () => Promise<number> {
  let running: Promise<number> | undefined;
  let next: Promise<number> | undefined;
  function begin(): Promise<number> {
    next = undefined;
    running = work().finally(() => (running = undefined));
    return running;
  }
  return () => {
    if (running === undefined && next === undefined) return begin();
    next ??= running!.catch(() => 0).then(async (done) => done + (await begin()));
    return next;
  };
}

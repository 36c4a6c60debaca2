/** Results that are computed once. */

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

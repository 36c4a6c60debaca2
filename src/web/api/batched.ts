/** Joins requests for single items to requests for many. */

interface Waiting<T> {
  resolve: (value: T | undefined) => void;
  reject: (error: unknown) => void;
}

/**
 * Makes a function that reads one item of a function that reads many: what is asked for in one turn of the event loop, such as by
 * all components of a render, is read together.
 * @param readMany returns the items that exist by their keys
 * @param max maximum number of keys of one call of `readMany`
 * @returns the function; it returns undefined for an item that does not exist
 */
export function batched<T>(
  readMany: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  max: number,
): (key: string) => Promise<T | undefined> {
  let waiting = new Map<string, Waiting<T>[]>();
  const readAll = (): void => {
    const entries = [...waiting];
    waiting = new Map();
    for (let from = 0; from < entries.length; from += max) void readSome(entries.slice(from, from + max));
  };
  const readSome = async (entries: readonly (readonly [string, readonly Waiting<T>[]])[]): Promise<void> => {
    try {
      const found = await readMany(entries.map(([key]) => key));
      for (const [key, all] of entries) for (const { resolve } of all) resolve(found.get(key));
    } catch (error) {
      for (const [, all] of entries) for (const { reject } of all) reject(error);
    }
  };
  return (key) =>
    new Promise((resolve, reject) => {
      if (waiting.size === 0) setTimeout(readAll);
      waiting.set(key, [...(waiting.get(key) ?? []), { resolve, reject }]);
    });
}

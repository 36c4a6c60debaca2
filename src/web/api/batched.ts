/**
 * Collects the keys that are asked for in one turn of the event loop, and loads them with one request.
 * @param max maximum number of keys of a request
 * @param load returns the values that exist, by key
 */
export function batched<T>(
  max: number,
  load: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>,
): (key: string) => Promise<T | undefined> {
  let waiting: Set<string> | undefined;
  let result: Promise<ReadonlyMap<string, T>> | undefined;
  return async (key) => {
    if (waiting === undefined || (waiting.size >= max && !waiting.has(key))) {
      const keys = new Set<string>();
      waiting = keys;
      result = new Promise<void>((resolve) => setTimeout(resolve)).then(() => {
        if (waiting === keys) waiting = undefined;
        return load([...keys]);
      });
    }
    waiting.add(key);
    return (await result!).get(key);
  };
}

import { LRUCache } from "lru-cache";
import { canonicalJson } from "../canonical-json.ts";
import type { JsonSchema } from "./dialect.ts";

/** Maximum number of cached results, per memoized function. */
const MAX_RESULTS = 200;

/**
 * Caches what a function makes of a schema, because the same schema is used again and again.
 * @param make returns the same for the same schema, whatever the order of its keys
 */
export function memoize<T extends object>(make: (schema: JsonSchema) => T): (schema: JsonSchema) => T {
  const results = new LRUCache<string, T>({ max: MAX_RESULTS });
  return (schema) => {
    const key = canonicalJson(schema);
    const cached = results.get(key);
    if (cached !== undefined) return cached;
    const result = make(schema);
    results.set(key, result);
    return result;
  };
}

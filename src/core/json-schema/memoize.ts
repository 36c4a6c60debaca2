import { LRUCache } from "lru-cache";
import { canonicalJson } from "../canonical-json.ts";
import type { JsonSchema } from "./dialect.ts";

/** Maximum number of cached results, per memoized function. */
const MAX_RESULTS = 200;
/** Maximum size of the schemas of these results, in characters of JSON. */
const MAX_CHARS = 8 * 1024 * 1024;

interface MemoizeOptions {
  /** The JSON of a schema. Default: without the order of its keys. */
  keyOf?: (schema: JsonSchema) => string;
  maxResults?: number;
}

/**
 * Caches what a function makes of a schema, because the same schema is used again and again.
 * @param make returns the same for schemas with the same key
 */
export function memoize<T extends object>(
  make: (schema: JsonSchema) => T,
  { keyOf = canonicalJson, maxResults = MAX_RESULTS }: MemoizeOptions = {},
): (schema: JsonSchema) => T {
  const results = new LRUCache<string, T>({
    max: maxResults,
    maxSize: MAX_CHARS,
    sizeCalculation: (_result, key) => key.length,
  });
  return (schema) => {
    const key = keyOf(schema);
    const cached = results.get(key);
    if (cached !== undefined) return cached;
    const result = make(schema);
    results.set(key, result);
    return result;
  };
}

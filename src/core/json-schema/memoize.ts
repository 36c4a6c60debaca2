/** Keeps what is made of a schema, so that the same schema is not worked through again. */
import { canonicalJson } from "../canonical-json.ts";
import type { JsonSchema } from "./dialect.ts";

/** As many results are kept. */
const MOST = 200;

/** @param make gives the same for the same schema, whatever the order of its keys */
export function memoize<T>(make: (schema: JsonSchema) => T): (schema: JsonSchema) => T {
  const made = new Map<string, { result: T }>();
  return (schema) => {
    const key = canonicalJson(schema);
    const found = made.get(key) ?? { result: make(schema) };
    // The one used last is the one dropped last.
    made.delete(key);
    made.set(key, found);
    if (made.size > MOST) made.delete(made.keys().next().value!);
    return found.result;
  };
}

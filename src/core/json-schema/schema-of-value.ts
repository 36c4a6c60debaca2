/** Derives a JSON Schema from a value: what is given once is described, so that expressions on it can be checked. */
import type { JsonSchema } from "./dialect.ts";

/** Maximum number of fields of an object that are described one by one; a larger one is any object. */
const MAX_FIELDS = 200;
/** Maximum levels that are described; what is deeper can be anything. */
const MAX_LEVELS = 12;

const ANYTHING: JsonSchema = {};

/**
 * Describes a JSON value. The items of a list are described together: a field that some of them lack is not required, and
 * values of different types may be any of these types.
 */
export const schemaOfValue = (value: unknown): JsonSchema => describe([value], MAX_LEVELS);

type Kind = "null" | "boolean" | "integer" | "number" | "string" | "array" | "object";

function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value as "boolean" | "string" | "object";
}

/** Returns a schema that all of these values match. */
function describe(values: readonly unknown[], levels: number): JsonSchema {
  const kinds = new Set(values.map(kindOf));
  if (kinds.has("number")) kinds.delete("integer");
  if (kinds.size === 0 || levels === 0 || (kinds.size === 1 && kinds.has("null"))) return ANYTHING;
  return {
    type: kinds.size === 1 ? [...kinds][0] : [...kinds],
    ...(kinds.has("array") && { items: describe(values.filter(Array.isArray).flat(), levels - 1) }),
    ...(kinds.has("object") && fieldsOf(values.filter(isObject), levels)),
  };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => kindOf(value) === "object";

function fieldsOf(objects: readonly Readonly<Record<string, unknown>>[], levels: number): JsonSchema {
  const values = new Map<string, unknown[]>();
  for (const object of objects)
    for (const [name, value] of Object.entries(object)) {
      const known = values.get(name);
      if (known !== undefined) known.push(value);
      else if (values.size < MAX_FIELDS) values.set(name, [value]);
      else return {};
    }
  const required = [...values].filter(([, found]) => found.length === objects.length).map(([name]) => name);
  return {
    properties: Object.fromEntries([...values].map(([name, found]) => [name, describe(found, levels - 1)])),
    ...(required.length > 0 && { required }),
  };
}

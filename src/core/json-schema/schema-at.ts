/** Finds what a schema says about one place in a value. */
import type { JsonSchema } from "./dialect.ts";
import { resolveRef } from "./references.ts";

/** The schema that `$ref` refers to, and how much work may still be done. */
export interface SchemaContext {
  root: JsonSchema;
  /** Number of schemas that may still be visited. Beyond it, schemas say nothing. */
  remaining: number;
}

type CanMatch = (form: unknown) => boolean;

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Returns a schema of the value under a key, which combines what references and combinations say. It accepts at least what the
 * whole schema accepts there: conditions are left out.
 * @param key the name of a field, or the index of an item
 * @param canMatch which forms of `anyOf` and `oneOf` the object or list does not rule out (`formMatcher`)
 */
export function schemaAt(
  schema: unknown,
  key: string | number,
  canMatch: CanMatch,
  context: SchemaContext,
): unknown {
  if (!isObject(schema)) return schema !== false;
  context.remaining -= 1;
  if (context.remaining < 0) return true;
  const parts = [typeof key === "number" ? itemAt(schema, key) : fieldAt(schema, key)];
  const { $ref, allOf, anyOf, oneOf } = schema;
  const at = (inner: unknown): unknown => schemaAt(inner, key, canMatch, context);
  if (typeof $ref === "string") parts.push(at(resolveRef($ref, context.root)));
  if (Array.isArray(allOf)) parts.push(...allOf.map(at));
  for (const forms of [anyOf, oneOf]) {
    if (!Array.isArray(forms)) continue;
    const found = (forms as unknown[]).filter(canMatch).map(at);
    if (!found.includes(true)) parts.push(found.length === 1 ? found[0] : { anyOf: found });
  }
  const saying = parts.filter((part) => part !== true);
  return saying.length <= 1 ? (saying[0] ?? true) : { allOf: saying };
}

function fieldAt({ properties, additionalProperties, patternProperties }: JsonSchema, name: string): unknown {
  if (isObject(properties) && Object.hasOwn(properties, name)) return properties[name];
  return patternProperties === undefined ? (additionalProperties ?? true) : true;
}

function itemAt({ prefixItems, items }: JsonSchema, index: number): unknown {
  const prefix: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
  return index < prefix.length ? prefix[index] : (items ?? true);
}

/** Keywords by which a schema decides about unknown fields itself. */
export const UNKNOWN_FIELD_KEYWORDS = ["additionalProperties", "unevaluatedProperties", "patternProperties"];

/** What is said of a field of an object by the schemas that can apply to it; `decides`: one of them decides about unknown fields. */
export function fieldFacts(
  schema: unknown,
  name: string,
  canMatch: CanMatch,
  context: SchemaContext,
): { declared: boolean; required: boolean; decides: boolean } {
  const facts = { declared: false, required: false, decides: false };
  const queue: unknown[] = [schema];
  // The list grows while it is walked.
  for (const next of queue) {
    if (!isObject(next)) continue;
    context.remaining -= 1;
    if (context.remaining < 0) break;
    const { $ref, allOf, anyOf, oneOf, properties, required } = next;
    facts.decides ||= UNKNOWN_FIELD_KEYWORDS.some((keyword) => Object.hasOwn(next, keyword));
    facts.required ||= Array.isArray(required) && required.includes(name);
    facts.declared ||= facts.required || (isObject(properties) && Object.hasOwn(properties, name));
    if (typeof $ref === "string") queue.push(resolveRef($ref, context.root));
    if (Array.isArray(allOf)) queue.push(...(allOf as unknown[]));
    for (const forms of [anyOf, oneOf])
      if (Array.isArray(forms)) queue.push(...(forms as unknown[]).filter(canMatch));
    for (const branch of [next["then"], next["else"]]) queue.push(branch);
    if (isObject(next["dependentSchemas"])) queue.push(...Object.values(next["dependentSchemas"]));
  }
  return facts;
}

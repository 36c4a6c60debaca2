/** Walks through the schemas inside a schema. */
import { type JsonSchema, KEYWORDS } from "./dialect.ts";
import { pointerPart } from "./references.ts";

export const isSchemaObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The types of a schema; undefined if it has none. */
export const typesOf = ({ type }: JsonSchema): unknown[] | undefined =>
  type === undefined ? undefined : [type].flat();

export const takesNumbers = (types: readonly unknown[]): boolean =>
  types.includes("number") || types.includes("integer");

/** Yields all schemas inside a schema that are objects, and the schema itself. References are not followed. */
export function* eachSchema(schema: unknown): Generator<JsonSchema> {
  const queue: unknown[] = [schema];
  // The list grows while it is walked.
  for (const next of queue) {
    if (!isSchemaObject(next)) continue;
    yield next;
    for (const [keyword, value] of Object.entries(next)) {
      const kind = KEYWORDS.get(keyword);
      if (kind === "schema") queue.push(value);
      else if (kind === "schemas" && Array.isArray(value)) queue.push(...(value as unknown[]));
      else if (kind === "named" && isSchemaObject(value)) queue.push(...Object.values(value));
    }
  }
}

/**
 * Replaces the schemas that a keyword contains.
 * @param pointer where the keyword is
 */
export function mapSchemas(
  key: string,
  value: unknown,
  pointer: string,
  replace: (schema: unknown, pointer: string) => unknown,
): unknown {
  const kind = KEYWORDS.get(key);
  if (kind === "schema") return replace(value, pointer);
  if (kind === "schemas" && Array.isArray(value))
    return value.map((inner: unknown, index) => replace(inner, `${pointer}/${index}`));
  if (kind !== "named" || !isSchemaObject(value)) return value;
  const inner = Object.entries(value).map(([name, schema]) => [
    name,
    replace(schema, `${pointer}/${pointerPart(name)}`),
  ]);
  return Object.fromEntries(inner);
}

/** Returns a schema with the schemas inside it replaced. */
export const mapInnerSchemas = (schema: JsonSchema, replace: (inner: unknown) => unknown): JsonSchema =>
  Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, mapSchemas(key, value, "", replace)]),
  );

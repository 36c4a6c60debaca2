/** The limits of a schema that are long numbers: the validators and readers of JSON Schema know no such limits. */
import { isLongNumber } from "../../../schemas/long-numbers.ts";
import { isSchemaObject, mapInnerSchemas } from "./map-schemas.ts";

const LIMITS: ReadonlySet<string> = new Set(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]);

/** Whether the value of a keyword is a limit that is a long number. (`multipleOf` must be positive.) */
export const isLongLimit = (keyword: string, value: unknown): value is string =>
  isLongNumber(value) && (LIMITS.has(keyword) || (keyword === "multipleOf" && !value.startsWith("-")));

/** Leaves out each limit that is a long number. */
export function withoutLongLimits(schema: unknown): unknown {
  if (!isSchemaObject(schema)) return schema;
  const entries = Object.entries(mapInnerSchemas(schema, withoutLongLimits));
  return Object.fromEntries(entries.filter(([keyword, value]) => !isLongLimit(keyword, value)));
}

/** Writes schemas of workflows for other programs, which know no long numbers. */
import type { JsonSchema } from "./dialect.ts";
import { withoutLongLimits } from "./long-limits.ts";
import { containsLongNumber } from "./long-numbers.ts";
import { isSchemaObject, mapInnerSchemas, takesNumbers, typesOf } from "./map-schemas.ts";

/** Keywords that list values. */
const VALUE_KEYWORDS = ["const", "enum", "default", "examples"];

/**
 * Returns a schema as JSON Schema, without the limits that are long numbers. Where it lists long numbers as values, it takes text too.
 * Vendors of models refuse all tools where one has a limit beyond a 64-bit integer, which the double nearest to the largest one is.
 * @param schema without issues; itself if it has no long number
 */
export const publishedSchema = (schema: JsonSchema): JsonSchema =>
  containsLongNumber(schema) ? (withTexts(withoutLongLimits(schema)) as JsonSchema) : schema;

function withTexts(schema: unknown): unknown {
  if (!isSchemaObject(schema)) return schema;
  const mapped = mapInnerSchemas(schema, withTexts);
  const types = typesOf(schema);
  const listsTexts = VALUE_KEYWORDS.some((keyword) => containsLongNumber(schema[keyword]));
  return listsTexts && types !== undefined && takesNumbers(types) && !types.includes("string")
    ? { ...mapped, type: [...types, "string"] }
    : mapped;
}

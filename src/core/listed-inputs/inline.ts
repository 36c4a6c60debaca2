/** Replaces the references of a schema by what they refer to: some vendors refuse `$ref`, and clients lose its target. */
import type { JsonSchema } from "../json-schema/dialect.ts";
import { mapSchemas } from "../json-schema/map-schemas.ts";
import { resolveRef } from "../json-schema/references.ts";

/** Maximum number of schemas in what is listed. Those beyond it accept everything in the list; calls are still checked. */
const MAX_SCHEMAS = 1_000;

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function withoutReferences(root: JsonSchema): JsonSchema {
  let remaining = MAX_SCHEMAS;
  const inline = (schema: unknown, above: readonly string[]): unknown => {
    if (!isObject(schema)) return schema;
    remaining -= 1;
    if (remaining < 0) return {};
    const { $ref, $defs: _, ...rest } = schema;
    const own = Object.fromEntries(
      Object.entries(rest).map(([keyword, value]) => [
        keyword,
        mapSchemas(keyword, value, "", (inner) => inline(inner, above)),
      ]),
    );
    if (typeof $ref !== "string") return own;
    const target = resolveRef($ref, root);
    const inlined = above.includes($ref) ? innermost(target) : inline(target, [...above, $ref]);
    if (Object.keys(own).length === 0) return inlined;
    return { ...own, allOf: [...((own["allOf"] ?? []) as unknown[]), inlined] };
  };
  return inline(root, []) as JsonSchema;
}

/** Where a schema contains itself, the list ends with its type. */
const innermost = (schema: unknown): JsonSchema =>
  isObject(schema) && schema["type"] !== undefined ? { type: schema["type"] } : {};

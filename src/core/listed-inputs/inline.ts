/** Replaces the references of a schema by what they refer to: some vendors refuse `$ref`, and clients lose its target. */
import type { JsonSchema } from "../json-schema/dialect.ts";
import { isSchemaObject, mapSchemas } from "../json-schema/map-schemas.ts";
import { resolveRef } from "../json-schema/references.ts";

/** Maximum number of schemas in what is listed. Those beyond it accept everything in the list; calls are still checked. */
const MAX_SCHEMAS = 1_000;

/** Keywords that only describe. */
const ANNOTATIONS: ReadonlySet<string> = new Set(["title", "description", "examples"]);

/** @param options `isBrief`: whether what several references refer to is described only the first time */
export function withoutReferences(root: JsonSchema, { isBrief }: { isBrief: boolean }): JsonSchema {
  let remaining = MAX_SCHEMAS;
  const described = new Set<string>();
  const inline = (schema: unknown, above: readonly string[], isDescribed: boolean): unknown => {
    if (!isSchemaObject(schema)) return schema;
    remaining -= 1;
    if (remaining < 0) return {};
    const { $ref, $defs: _, ...rest } = schema;
    const own = Object.fromEntries(
      Object.entries(rest)
        .filter(([keyword]) => isDescribed || !ANNOTATIONS.has(keyword))
        .map(([keyword, value]) => [
          keyword,
          mapSchemas(keyword, value, "", (inner) => inline(inner, above, isDescribed)),
        ]),
    );
    if (typeof $ref !== "string") return own;
    const target = resolveRef($ref, root);
    const isRepeated = isBrief && described.has($ref);
    described.add($ref);
    const inlined = above.includes($ref)
      ? innermost(target)
      : inline(target, [...above, $ref], isDescribed && !isRepeated);
    if (Object.keys(own).length === 0) return inlined;
    return { ...own, allOf: [...((own["allOf"] ?? []) as unknown[]), inlined] };
  };
  return inline(root, [], true) as JsonSchema;
}

/** Where a schema contains itself, the list ends with its type. */
const innermost = (schema: unknown): JsonSchema =>
  isSchemaObject(schema) && schema["type"] !== undefined ? { type: schema["type"] } : {};

/** Writes a schema with the listed names: it accepts a value with these where the written one accepts it with its own. */
import type { JsonSchema } from "../json-schema/dialect.ts";
import { readWritten } from "../json-schema/index.ts";
import { eachSchema, isSchemaObject, mapInnerSchemas, mapSchemas } from "../json-schema/map-schemas.ts";
import { pointerPart, pointerParts } from "../json-schema/references.ts";
import type { ListedNames } from "./names.ts";

/** Keywords that say something of the names of fields, which can't be renamed in it. */
const NAME_RULES = ["propertyNames", "patternProperties"];

export const hasNameRules = (schema: JsonSchema): boolean =>
  [...eachSchema(schema)].some((inner) => NAME_RULES.some((rule) => Object.hasOwn(inner, rule)));

export function withListedNames(schema: JsonSchema, names: ListedNames): JsonSchema {
  if (names.size === 0) return schema;
  const renamed = renameIn(schema, names) as JsonSchema;
  return renameValues(renamed, belowRoot(renamed) as JsonSchema, names) as JsonSchema;
}

function renameIn(schema: unknown, names: ListedNames): unknown {
  if (!isSchemaObject(schema)) return schema;
  const listed = (name: string): string => names.get(name) ?? name;
  const keys = (value: unknown, map: (inner: unknown) => unknown = (inner) => inner): unknown =>
    isSchemaObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [listed(name), map(inner)]))
      : value;
  const list = (value: unknown): unknown => (Array.isArray(value) ? (value as string[]).map(listed) : value);
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    const inner = mapSchemas(keyword, value, "", (each) => renameIn(each, names));
    if (keyword === "properties" || keyword === "dependentSchemas") return [keyword, keys(inner)];
    if (keyword === "required") return [keyword, list(inner)];
    if (keyword === "dependentRequired") return [keyword, keys(inner, list)];
    return [keyword, keyword === "$ref" && typeof inner === "string" ? renameRef(inner, listed) : inner];
  });
  return Object.fromEntries(entries);
}

/** Renames the parts of a pointer that are names of fields. */
function renameRef(ref: string, listed: (name: string) => string): string {
  const parts = pointerParts(ref) ?? [];
  const renamed = parts.map((part, index) => {
    const before = parts[index - 1];
    return before === "properties" || before === "dependentSchemas" ? listed(part) : part;
  });
  return ["#", ...renamed.map(pointerPart)].join("/");
}

/** Makes the references of a schema lead below this name in `$defs`. */
const ROOT = "root";

function belowRoot(schema: unknown): unknown {
  if (!isSchemaObject(schema)) return schema;
  const inner = mapInnerSchemas(schema, belowRoot);
  const { $ref } = inner;
  return typeof $ref === "string" ? { ...inner, $ref: `#/$defs/${ROOT}${$ref.slice(1)}` } : inner;
}

/**
 * Renames the fields of the values that the schemas inside a schema contain.
 * @param root the whole schema, with its references below ROOT
 */
function renameValues(schema: unknown, root: JsonSchema, names: ListedNames): unknown {
  if (!isSchemaObject(schema)) return schema;
  const rename = (value: unknown): unknown =>
    typeof value === "object" && value !== null
      ? readWritten({ ...(belowRoot(schema) as JsonSchema), $defs: { [ROOT]: root } }, value, {
          otherNames: names,
        }).value
      : value;
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (keyword === "default" || keyword === "const") return [keyword, rename(value)];
    if ((keyword === "enum" || keyword === "examples") && Array.isArray(value))
      return [keyword, value.map(rename)];
    return [keyword, mapSchemas(keyword, value, "", (inner) => renameValues(inner, root, names))];
  });
  return Object.fromEntries(entries);
}

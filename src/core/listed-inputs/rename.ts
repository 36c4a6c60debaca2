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

/** Maximum number of objects and lists among the values of a schema. */
const MAX_VALUES = 50;
/** Maximum number of schemas that are visited for one of them. */
const MAX_VISITED = 2_000;

/** @returns undefined for a schema with so many values, or so large ones, that it would take long */
export function withListedNames(schema: JsonSchema, names: ListedNames): JsonSchema | undefined {
  if (names.size === 0) return schema;
  const renamed = renameIn(schema, names) as JsonSchema;
  const work = { remaining: MAX_VALUES };
  const whole = renameValues(renamed, { root: belowRoot(renamed) as JsonSchema, names, work }) as JsonSchema;
  return work.remaining < 0 ? undefined : whole;
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

interface Renaming {
  /** The whole schema, with its references below ROOT. */
  root: JsonSchema;
  names: ListedNames;
  /** The number of values that may still be renamed; negative if one was not. */
  work: { remaining: number };
}

/** Renames the fields of the values that the schemas inside a schema contain. */
function renameValues(schema: unknown, renaming: Renaming): unknown {
  if (!isSchemaObject(schema)) return schema;
  const { root, names, work } = renaming;
  const rename = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null || work.remaining < 0) return value;
    work.remaining -= 1;
    const whole = { ...(belowRoot(schema) as JsonSchema), $defs: { [ROOT]: root } };
    const read = readWritten(whole, value, { otherNames: names, maxVisited: MAX_VISITED });
    if (read.issues.some(({ code }) => code === "too_large")) work.remaining = -1;
    return read.value;
  };
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (keyword === "default" || keyword === "const") return [keyword, rename(value)];
    if ((keyword === "enum" || keyword === "examples") && Array.isArray(value))
      return [keyword, value.map(rename)];
    return [keyword, mapSchemas(keyword, value, "", (inner) => renameValues(inner, renaming))];
  });
  return Object.fromEntries(entries);
}

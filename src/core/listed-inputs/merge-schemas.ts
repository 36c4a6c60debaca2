/** Makes one schema of a schema and the parts of its `allOf`. */
import { canonicalJson } from "../canonical-json.ts";
import type { JsonSchema } from "../json-schema/dialect.ts";
import { isSchemaObject } from "../json-schema/map-schemas.ts";

export type Node = Record<string, unknown>;

/** Keywords that only describe. */
export const EXAMPLES = ["title", "default", "examples"];
export const ANNOTATIONS: ReadonlySet<string> = new Set(["description", ...EXAMPLES]);

export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as unknown[]) : [];
export const fieldsOf = (value: unknown): Record<string, unknown> => (isSchemaObject(value) ? value : {});

/** A schema with what its `allOf` adds. */
export function merged(schema: JsonSchema): Node {
  const { allOf, ...own } = schema;
  return listOf(allOf)
    .filter(isSchemaObject)
    .map(merged)
    .reduce((whole, part) => both(whole, part), own);
}

/** Keywords whose meaning depends on each other. */
const TOGETHER: readonly (readonly string[])[] = [
  ["if", "then", "else"],
  ["contains", "minContains", "maxContains"],
];
/** Keywords that are merged, or whose value in the first of two schemas is listed for both: it allows what both allow. */
const NEVER_APART: ReadonlySet<string> = new Set([
  ...ANNOTATIONS,
  "properties",
  "required",
  "type",
  "items",
  "additionalProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
]);

/** One schema for two; a keyword that they have with different values stays apart for the second, in `allOf`. */
function both(one: Node, other: Node): Node {
  const { allOf, ...second } = other;
  const [apart, beside] = partition(Object.entries(second), ([keyword]) => {
    const group = TOGETHER.find((keywords) => keywords.includes(keyword)) ?? [keyword];
    return (
      !NEVER_APART.has(keyword) &&
      group.some((each) => Object.hasOwn(one, each)) &&
      canonicalJson(pick(one, group)) !== canonicalJson(pick(other, group))
    );
  });
  const parts = [
    ...listOf(one["allOf"]),
    ...listOf(allOf),
    ...(apart.length > 0 ? [Object.fromEntries(apart)] : []),
  ];
  const fields: Node = { ...fieldsOf(one["properties"]) };
  for (const [name, field] of Object.entries(fieldsOf(other["properties"])))
    fields[name] = Object.hasOwn(fields, name) ? { allOf: [fields[name], field] } : field;
  const required = [...new Set([...listOf(one["required"]), ...listOf(other["required"])])];
  return {
    ...Object.fromEntries(beside),
    ...one,
    ...(one["type"] !== undefined && other["type"] !== undefined && { type: commonTypes(one, other) }),
    ...(Object.keys(fields).length > 0 && { properties: fields }),
    ...(required.length > 0 && { required }),
    ...(parts.length > 0 && { allOf: parts }),
  };
}

const pick = (node: Node, keywords: readonly string[]): Node =>
  Object.fromEntries(keywords.map((keyword) => [keyword, node[keyword]]));

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

const isAmong = (type: unknown, types: readonly unknown[]): boolean =>
  types.includes(type) || (type === "integer" && types.includes("number"));

function commonTypes(one: Node, other: Node): unknown {
  const [first, second] = [[one["type"]].flat(), [other["type"]].flat()];
  const common = new Set([
    ...first.filter((type) => isAmong(type, second)),
    ...second.filter((type) => isAmong(type, first)),
  ]);
  // No value matches both.
  if (common.size === 0) return one["type"];
  return common.size === 1 ? [...common][0] : [...common];
}

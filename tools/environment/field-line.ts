/** Fields of schemas as lines of the guide. */
import { z } from "zod";
import type { Field } from "../../src/core/step-type.ts";

const toJson = (value: unknown): string => JSON.stringify(value);

/** A field of a schema as a line of Markdown, with the fields of the object that it is. */
export function fieldLine(name: string, schema: z.ZodType, kind?: Field["kind"]): string {
  const meta = metaOf(schema);
  const required = schema.safeParse(undefined).success ? "" : "required; ";
  const syntax = kind === "cel" ? "one CEL expression; " : kind === "literal" ? "no expressions; " : "";
  const example = meta.example === undefined ? "" : ` Example: \`${toJson(meta.example)}\``;
  const parts = partsOf(schema).map(([part, inner]) => `\n  ${fieldLine(part, inner)}`);
  return `- \`${name}\` (${required}${syntax}${typeText(schema)}): ${meta.description ?? ""}${example}${parts.join("")}`;
}

/** The fields of an object, such as `retry`; empty for any other type. */
function partsOf(schema: z.ZodType): [string, z.ZodType][] {
  const { def } = schema as {
    def?: { type?: string; shape?: Record<string, z.ZodType>; innerType?: z.ZodType };
  };
  if (def?.innerType !== undefined) return partsOf(def.innerType);
  return def?.type === "object" ? Object.entries(def.shape ?? {}) : [];
}

/** Description and example of a schema, or of the one that it makes optional. */
export function metaOf(schema: z.ZodType): { description?: string; example?: unknown } {
  const inner = (schema as { def?: { innerType?: z.ZodType } }).def?.innerType;
  return { ...(inner && metaOf(inner)), ...(schema.meta() as object | undefined) };
}

interface TypedSchema {
  type?: string;
  enum?: unknown[];
  anyOf?: TypedSchema[];
  items?: TypedSchema;
  default?: unknown;
}

const TYPE_NAMES: Readonly<Record<string, string>> = { string: "text", array: "list" };

function typeText(schema: z.ZodType): string {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as TypedSchema;
  const defaultText = json.default === undefined ? "" : `, default ${toJson(json.default)}`;
  return `${typeName(json)}${defaultText}`;
}

function typeName({ type, enum: values, anyOf, items }: TypedSchema): string {
  if (values !== undefined) return values.map(String).join(" | ");
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeName))].join(" or ");
  if (type === "array" && items?.type !== undefined) return `list of ${typeName(items)}`;
  return type === undefined ? "any value" : (TYPE_NAMES[type] ?? type);
}

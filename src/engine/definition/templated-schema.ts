/** Turns the schema of a resolved value into that of a template, in which `${{ }}` may replace any part. */
import { z } from "zod";
import { EXPRESSION_PATTERN } from "../../../schemas/field-values.ts";
import { ALTERNATIVE } from "../../core/issues.ts";

/** A string with an expression in it, in place of a value of any type. */
const Expression = z
  .custom<string>((value) => typeof value === "string" && EXPRESSION_PATTERN.test(value), {
    params: { code: ALTERNATIVE },
  })
  .meta({ type: "string", pattern: "\\$\\{\\{" });

interface Def {
  type: string;
  innerType?: z.ZodType;
  element?: z.ZodType;
  valueType?: z.ZodType;
  options?: readonly z.ZodType[];
  shape?: Readonly<Record<string, z.ZodType>>;
  checks?: readonly unknown[];
  format?: unknown;
}
const defOf = (schema: z.ZodType): Def => schema.def;

/** Schema types that wrap the schema of the value. */
const WRAPPERS: ReadonlySet<string> = new Set(["optional", "nullable", "default", "prefault", "readonly"]);

/** @param schema the schema of the resolved value */
export function templated(schema: z.ZodType): z.ZodType {
  const def = defOf(schema);
  if (WRAPPERS.has(def.type)) return withDef(schema, { innerType: templated(def.innerType!) });
  if (acceptsAnyText(schema)) return schema;
  const options = def.options ?? [schema];
  const { id: _, ...meta } = schema.meta() ?? {};
  return z.union([Expression, ...options.map(withTemplatesInside)]).meta(fieldMeta(meta));
}

/** Keeps the metadata of the field, without that of a single option (`maxLength`, `pattern`). */
function fieldMeta(meta: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { title, description, example } = meta;
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(example !== undefined && { example }),
  };
}

/** Allows templates inside the value, but not in its place. */
function withTemplatesInside(schema: z.ZodType): z.ZodType {
  const def = defOf(schema);
  switch (def.type) {
    case "object":
      return withDef(schema, {
        shape: Object.fromEntries(Object.entries(def.shape!).map(([key, field]) => [key, templated(field)])),
      });
    case "array":
      return withDef(schema, { element: templated(def.element!) });
    case "record":
      return withDef(schema, { valueType: templated(def.valueType!) });
    default:
      return schema;
  }
}

function withDef(schema: z.ZodType, change: Partial<Def>): z.ZodType {
  const clone = schema.clone({ ...schema.def, ...change } as typeof schema.def);
  const { id: _, ...meta } = schema.meta() ?? {};
  return clone.meta(meta);
}

/** Whether the schema accepts an expression as plain text already. */
function acceptsAnyText(schema: z.ZodType): boolean {
  const { type, format } = defOf(schema);
  if (type === "unknown" || type === "any") return true;
  return type === "string" && format === undefined && schema.safeParse("${{ x }}").success;
}

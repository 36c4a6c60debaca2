/** From the schema of a resolved value to that of the value as it is written, with `${{ }}` in place of any part. */
import { z } from "zod";
import { EXPRESSION_PATTERN } from "../../../schemas/workflow-definition.ts";
import { ALTERNATIVE } from "../../core/issues.ts";

/** Text with an expression in it, in place of a value of any type. */
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

/** Kinds that say how a value may be left out, around the schema of the value. */
const WRAPPERS: ReadonlySet<string> = new Set(["optional", "nullable", "default", "prefault", "readonly"]);

/** @param schema what the value must be once it is resolved */
export function templated(schema: z.ZodType): z.ZodType {
  const def = defOf(schema);
  if (WRAPPERS.has(def.type)) return rebuilt(schema, { innerType: templated(def.innerType!) });
  if (takesAnyText(schema)) return schema;
  const forms = def.options ?? [schema];
  const { id: _, ...meta } = schema.meta() ?? {};
  return z.union([Expression, ...forms.map(inside)]).meta(lifted(meta));
}

/** What describes the field, apart from what describes only one of its forms (`maxLength`, `pattern`). */
function lifted(meta: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { title, description, example } = meta;
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(example !== undefined && { example }),
  };
}

/** The schema with templates inside it, itself not one. */
function inside(schema: z.ZodType): z.ZodType {
  const def = defOf(schema);
  switch (def.type) {
    case "object":
      return rebuilt(schema, {
        shape: Object.fromEntries(Object.entries(def.shape!).map(([key, it]) => [key, templated(it)])),
      });
    case "array":
      return rebuilt(schema, { element: templated(def.element!) });
    case "record":
      return rebuilt(schema, { valueType: templated(def.valueType!) });
    default:
      return schema;
  }
}

function rebuilt(schema: z.ZodType, change: Partial<Def>): z.ZodType {
  const made = schema.clone({ ...schema.def, ...change } as typeof schema.def);
  const { id: _, ...meta } = schema.meta() ?? {};
  return made.meta(meta);
}

/** Whether an expression fits it as the text that it is: no form of its own is needed. */
function takesAnyText(schema: z.ZodType): boolean {
  const { type, format } = defOf(schema);
  if (type === "unknown" || type === "any") return true;
  return type === "string" && format === undefined && schema.safeParse("${{ x }}").success;
}

/** Resolves the part of a JSON Schema that applies at a path: `$ref`, `allOf`, and the `anyOf`/`oneOf` variants that match the value. */
import * as texts from "#texts/editor";
import { asList, asObject, type Path } from "./path.ts";

export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  pattern?: string;
}

export interface SchemaMatch {
  /** The schemas that the value may match; empty when the schema says nothing. */
  variants: readonly Schema[];
  /** The schema names the key itself, rather than through `additionalProperties`. */
  declared: boolean;
}

/** @param value the root value: its constants select the variant, such as a step's `type` */
export function resolveSchemaAt(schema: Schema, path: Readonly<Path>, value: unknown): SchemaMatch {
  let match: SchemaMatch = { variants: variantsOf(schema, schema, value), declared: false };
  let current = value;
  for (const part of path) {
    current = typeof part === "number" ? asList(current)[part] : asObject(current)[part];
    match = descend(schema, match.variants, part, current);
  }
  return match;
}

function descend(
  root: Schema,
  variants: readonly Schema[],
  part: string | number,
  value: unknown,
): SchemaMatch {
  let declared = typeof part === "number";
  const next = variants.flatMap((variant) => {
    if (typeof part === "number") return variant.items ?? [];
    const own = variant.properties?.[part];
    if (own !== undefined) {
      declared = true;
      return own;
    }
    return typeof variant.additionalProperties === "object" ? variant.additionalProperties : [];
  });
  return { variants: next.flatMap((variant) => variantsOf(root, variant, value)), declared };
}

function variantsOf(root: Schema, schema: Schema, value: unknown): Schema[] {
  if (schema.$ref !== undefined) {
    const target = root.$defs?.[schema.$ref.replace("#/$defs/", "")];
    return target === undefined ? [] : variantsOf(root, { ...target, ...annotationsOf(schema) }, value);
  }
  if (schema.allOf !== undefined) {
    const { allOf, ...own } = schema;
    const parts = allOf.flatMap((part) => variantsOf(root, part, value));
    return [parts.reduce<Schema>((all, part) => merge(all, part), own)];
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices === undefined) return [schema];
  const possible = choices.filter((variant) => matches(variant, value));
  return (possible.length === 0 ? choices : possible).flatMap((variant) =>
    variantsOf(root, { ...variant, ...annotationsOf(schema) }, value),
  );
}

/** Annotations next to `$ref`, `anyOf` or `oneOf`, which apply to each variant. */
const annotationsOf = ({ description, examples, default: preset }: Schema): Partial<Schema> => ({
  ...(description !== undefined && { description }),
  ...(examples !== undefined && { examples }),
  ...(preset !== undefined && { default: preset }),
});

const merge = (a: Schema, b: Schema): Schema => ({
  ...a,
  ...b,
  properties: { ...a.properties, ...b.properties },
  required: [...(a.required ?? []), ...(b.required ?? [])],
});

/** Whether every constant of the variant equals the value's: with `type: sql` only the sql step matches. */
function matches(variant: Schema, value: unknown): boolean {
  const fields = asObject(value);
  return Object.entries(variant.properties ?? {}).every(
    ([key, { const: constant }]) =>
      constant === undefined || fields[key] === undefined || fields[key] === constant,
  );
}

/** The allowed values, when the schema lists them. */
export function enumValues(variant: Schema): unknown[] {
  if (variant.const !== undefined) return [variant.const];
  return variant.enum ?? (variant.type === "boolean" ? [true, false] : []);
}

export const isObjectSchema = (variant: Schema): boolean =>
  variant.type === "object" || variant.properties !== undefined;

/** The types in words: "text or list". */
export function typeNames(variants: readonly Schema[]): string {
  const kinds = variants.flatMap(({ type }) => (type === undefined ? [] : [type].flat()));
  const [first = "", ...others] = new Set(kinds.map((type) => texts.valueType({ type })));
  return others.reduce((before, second) => texts.alternatives({ first: before, second }), first);
}

/** Help on a value, in a few lines of plain text. */
export function schemaHelp(variants: readonly Schema[]): string {
  const [first] = variants;
  if (first === undefined) return "";
  const allowed = variants.flatMap(enumValues).map(String);
  // The description of one step type does not describe the field `type`.
  const same = variants.every(({ description }) => description === first.description) || allowed.length < 2;
  const example = same ? first.examples?.[0] : undefined;
  return [
    same && first.description,
    allowed.length > 1 &&
      !allowed.includes("true") &&
      texts.oneOf({ values: [...new Set(allowed)].join(", ") }),
    first.default !== undefined && texts.defaultIs({ value: exampleText(first.default) }),
    example !== undefined && texts.example({ value: exampleText(example) }),
  ]
    .filter((line) => typeof line === "string")
    .join("\n");
}

function exampleText(value: unknown): string {
  const text = typeof value === "string" && value !== "" ? value : JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
}

/** Walks a JSON Schema to a place of a value: `$ref`, `allOf`, and of `anyOf`/`oneOf` the forms that the value can still be. */
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

/** What may stand at a place. */
export interface SchemaMatch {
  /** The forms that it can have; empty where nothing is known. */
  variants: readonly Schema[];
  /** It was named by the schema itself, and is no key of a free object. */
  declared: boolean;
}

/** @param value what stands there: it tells the forms of a step apart */
export function resolveSchemaAt(schema: Schema, path: Readonly<Path>, value: unknown): SchemaMatch {
  let spot: SchemaMatch = { variants: formsOf(schema, schema, value), declared: false };
  let here = value;
  for (const part of path) {
    here = typeof part === "number" ? asList(here)[part] : asObject(here)[part];
    spot = step(schema, spot.variants, part, here);
  }
  return spot;
}

function step(root: Schema, forms: readonly Schema[], part: string | number, value: unknown): SchemaMatch {
  let declared = typeof part === "number";
  const next = forms.flatMap((form) => {
    if (typeof part === "number") return form.items ?? [];
    const own = form.properties?.[part];
    if (own !== undefined) {
      declared = true;
      return own;
    }
    return typeof form.additionalProperties === "object" ? form.additionalProperties : [];
  });
  return { variants: next.flatMap((form) => formsOf(root, form, value)), declared };
}

function formsOf(root: Schema, schema: Schema, value: unknown): Schema[] {
  if (schema.$ref !== undefined) {
    const target = root.$defs?.[schema.$ref.replace("#/$defs/", "")];
    return target === undefined ? [] : formsOf(root, { ...target, ...described(schema) }, value);
  }
  if (schema.allOf !== undefined) {
    const { allOf, ...own } = schema;
    const parts = allOf.flatMap((part) => formsOf(root, part, value));
    return [parts.reduce<Schema>((all, part) => merged(all, part), own)];
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices === undefined) return [schema];
  const possible = choices.filter((form) => fits(form, value));
  return (possible.length === 0 ? choices : possible).flatMap((form) =>
    formsOf(root, { ...form, ...described(schema) }, value),
  );
}

/** What stands beside the forms is said of each of them. */
const described = ({ description, examples, default: preset }: Schema): Partial<Schema> => ({
  ...(description !== undefined && { description }),
  ...(examples !== undefined && { examples }),
  ...(preset !== undefined && { default: preset }),
});

const merged = (a: Schema, b: Schema): Schema => ({
  ...a,
  ...b,
  properties: { ...a.properties, ...b.properties },
  required: [...(a.required ?? []), ...(b.required ?? [])],
});

/** Whether no constant of the form speaks against the value: `type: sql` leaves the sql step alone. */
function fits(form: Schema, value: unknown): boolean {
  const fields = asObject(value);
  return Object.entries(form.properties ?? {}).every(
    ([key, { const: only }]) => only === undefined || fields[key] === undefined || fields[key] === only,
  );
}

/** The words that may stand there, where they can be counted. */
export function enumValues(form: Schema): unknown[] {
  if (form.const !== undefined) return [form.const];
  return form.enum ?? (form.type === "boolean" ? [true, false] : []);
}

export const isObjectSchema = (form: Schema): boolean =>
  form.type === "object" || form.properties !== undefined;

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "true or false",
  array: "list",
  object: "object",
  null: "null",
};

/** What kind of thing it is, in a word or two: "text or list". */
export function typeNames(forms: readonly Schema[]): string {
  const kinds = forms.flatMap(({ type }) => (type === undefined ? [] : [type].flat()));
  return [...new Set(kinds.map((kind) => KINDS[kind] ?? kind))].join(" or ");
}

/** What is to be known of a place, in a few lines of plain text. */
export function schemaHelp(forms: readonly Schema[]): string {
  const [first] = forms;
  if (first === undefined) return "";
  const words = forms.flatMap(enumValues).map(String);
  // What is said of one type of step is not said of the field.
  const same = forms.every(({ description }) => description === first.description) || words.length < 2;
  const example = same ? first.examples?.[0] : undefined;
  return [
    same && first.description,
    words.length > 1 && !words.includes("true") && `One of ${[...new Set(words)].join(", ")}.`,
    first.default !== undefined && `Left out: ${shown(first.default)}`,
    example !== undefined && `Example: ${shown(example)}`,
  ]
    .filter((line) => typeof line === "string")
    .join("\n");
}

function shown(value: unknown): string {
  const text = typeof value === "string" && value !== "" ? value : JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
}

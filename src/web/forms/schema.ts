/** Derives a form from a JSON Schema. Schemas that no other field supports get a JSON field. */
import { isLongNumber } from "../../../schemas/long-numbers.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

interface CommonFieldProps {
  /** Property name; "" for the whole value. */
  name: string;
  label: string;
  help: string;
  required: boolean;
  /** Value of an empty field: undefined removes the property; null if it is required and nullable. */
  empty: null | undefined;
}

export type Field = CommonFieldProps &
  (
    | { kind: "text"; format: "text" | "date" | "date-time" | "email" | "url"; multiline: boolean }
    | { kind: "number"; integer: boolean; min?: number | string; max?: number | string }
    | { kind: "boolean"; optional: boolean }
    | { kind: "choice"; options: readonly Option[] }
    | { kind: "choices"; options: readonly Option[] }
    | { kind: "list"; item: Field; maxItems?: number }
    | { kind: "object"; fields: readonly Field[] }
    | { kind: "json" }
  );
export type FieldOf<K extends Field["kind"]> = Extract<Field, { kind: K }>;

interface Option {
  label: string;
  value: unknown;
}

/** Maximum nesting of fields. Deeper values are edited as JSON, which also ends recursive schemas. */
const MAX_DEPTH = 4;
/** A string whose `maxLength` is above this gets a text area. */
const SINGLE_LINE_MAX_CHARS = 300;

/** @returns the field for the whole value */
export const buildForm = (schema: JsonSchema): Field =>
  fieldOf("", schema, { root: schema, required: true, depth: 0 });

interface SchemaContext {
  root: JsonSchema;
  required: boolean;
  depth: number;
}

function fieldOf(name: string, rawSchema: unknown, context: SchemaContext): Field {
  const schema = resolveReferences(rawSchema, context.root);
  const types = typesOf(schema);
  const nullable = types.includes("null") || (isList(schema["enum"]) && schema["enum"].includes(null));
  const common: CommonFieldProps = {
    name,
    label: text(schema["title"]) || humanize(name),
    help: text(schema["description"]),
    required: context.required && !nullable && !("default" in schema),
    empty: context.required && nullable ? null : undefined,
  };
  return {
    ...common,
    ...shapeOf(
      schema,
      types.filter((type) => type !== "null"),
      context,
    ),
  };
}

type Shape = Field extends infer F ? (F extends Field ? Omit<F, keyof CommonFieldProps> : never) : never;

function shapeOf(schema: JsonSchema, types: readonly string[], context: SchemaContext): Shape {
  const options = optionsOf(schema);
  if (options !== undefined) return { kind: "choice", options };
  if (types.length !== 1 || context.depth > MAX_DEPTH) return { kind: "json" };
  switch (types[0]) {
    case "string":
      return textShape(schema);
    case "number":
    case "integer":
      return {
        kind: "number",
        integer: types[0] === "integer",
        ...(isLimit(schema["minimum"]) && { min: schema["minimum"] }),
        ...(isLimit(schema["maximum"]) && { max: schema["maximum"] }),
      };
    case "boolean":
      return { kind: "boolean", optional: !context.required && !("default" in schema) };
    case "array":
      return listShape(schema, context);
    case "object":
      return objectShape(schema, context);
    default:
      return { kind: "json" };
  }
}

/** A limit that a double can't hold is a long number. */
const isLimit = (value: unknown): value is number | string =>
  typeof value === "number" || isLongNumber(value);

function textShape({ format, maxLength }: JsonSchema): Shape {
  const formats: Readonly<Record<string, FieldOf<"text">["format"]>> = {
    date: "date",
    "date-time": "date-time",
    email: "email",
    uri: "url",
  };
  const inputFormat = typeof format === "string" ? formats[format] : undefined;
  const isLong = typeof maxLength === "number" && maxLength > SINGLE_LINE_MAX_CHARS;
  return { kind: "text", format: inputFormat ?? "text", multiline: isLong && inputFormat === undefined };
}

function listShape({ items, maxItems, prefixItems }: JsonSchema, { root, depth }: SchemaContext): Shape {
  if (items === undefined || typeof items === "boolean" || prefixItems !== undefined) return { kind: "json" };
  const options = optionsOf(resolveReferences(items, root));
  if (options !== undefined) return { kind: "choices", options };
  const item = fieldOf("", items, { root, required: true, depth: depth + 1 });
  if (item.kind === "json" || item.kind === "list") return { kind: "json" };
  return { kind: "list", item, ...(typeof maxItems === "number" && { maxItems }) };
}

function objectShape({ properties, required }: JsonSchema, { root, depth }: SchemaContext): Shape {
  // An object with arbitrary property names can only be edited as JSON.
  if (!isObject(properties)) return { kind: "json" };
  const requiredNames: readonly unknown[] = isList(required) ? required : [];
  const fields = Object.entries(properties).map(([name, schema]) =>
    fieldOf(name, schema, { root, required: requiredNames.includes(name), depth: depth + 1 }),
  );
  return { kind: "object", fields };
}

/** @returns the options of a `const`, an `enum`, or a `oneOf` or `anyOf` of constants; undefined for other schemas */
function optionsOf(schema: JsonSchema): Option[] | undefined {
  if ("const" in schema) return [optionOf(schema["const"])];
  if (isList(schema["enum"]))
    return schema["enum"].filter((value) => value !== null).map((value) => optionOf(value));
  const variants = schema["oneOf"] ?? schema["anyOf"];
  if (!isList(variants) || variants.length === 0) return undefined;
  const constants = variants.filter(
    (variant): variant is JsonSchema => isObject(variant) && "const" in variant,
  );
  if (constants.length < variants.length) return undefined;
  return constants.map((variant) => optionOf(variant["const"], text(variant["title"])));
}

const optionOf = (value: unknown, title = ""): Option => ({
  label: title || (typeof value === "string" ? value : JSON.stringify(value)),
  value,
});

function typesOf(schema: JsonSchema): string[] {
  const { type, properties, items } = schema;
  if (typeof type === "string") return [type];
  if (isList(type)) return type.filter((name) => typeof name === "string");
  if (properties !== undefined) return ["object"];
  return items === undefined ? [] : ["array"];
}

/** Follows `$ref` inside the document, at most 8 times. Keywords beside `$ref` override those of its target. */
function resolveReferences(rawSchema: unknown, root: JsonSchema): JsonSchema {
  let schema = isObject(rawSchema) ? rawSchema : {};
  for (let hops = 0; typeof schema["$ref"] === "string" && hops < 8; hops += 1) {
    const { $ref, ...siblings } = schema;
    const target = followPointer($ref, root);
    if (!isObject(target)) return {};
    schema = { ...target, ...siblings };
  }
  return schema;
}

/** Evaluates a JSON pointer in a URI fragment, such as `#/$defs/day`. */
function followPointer(ref: string, root: JsonSchema): unknown {
  if (!ref.startsWith("#")) return undefined;
  const parts = ref.slice(1).split("/").slice(1);
  return parts
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((node, part) => (isObject(node) ? node[part] : undefined), root);
}

/** Turns `last_order` into "Last order", and `firstName` into "First Name". */
function humanize(name: string): string {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]+/g, " ")
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Returns the initial value of a form: the defaults of the schema, and false for required booleans, since a checkbox
 * cannot be unset. Empty if the schema describes no object.
 */
export function initialValue(schema: JsonSchema): Record<string, unknown> {
  const value = initialOf(schema, { root: schema, required: true, depth: 0 });
  return isObject(value) ? { ...value } : {};
}

function initialOf(rawSchema: unknown, context: SchemaContext): unknown {
  const schema = resolveReferences(rawSchema, context.root);
  if ("default" in schema) return schema["default"];
  if (!context.required || context.depth > MAX_DEPTH) return undefined;
  const [type, secondType] = typesOf(schema);
  if (type === "boolean" && secondType === undefined && optionsOf(schema) === undefined) return false;
  if (type !== "object" || !isObject(schema["properties"])) return undefined;
  const requiredNames: readonly unknown[] = isList(schema["required"]) ? schema["required"] : [];
  const entries = Object.entries(schema["properties"]).map(([name, property]): [string, unknown] => [
    name,
    initialOf(property, {
      root: context.root,
      required: requiredNames.includes(name),
      depth: context.depth + 1,
    }),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** What a form shows for a JSON Schema: one kind of field for each schema, and a JSON field for what has no other. */

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What every field has. */
interface Common {
  /** Its name in the value; "" for the whole. */
  name: string;
  label: string;
  help: string;
  required: boolean;
  /** What an emptied field becomes: left out, or null where it must stand there and null may. */
  empty: null | undefined;
}

export type Field = Common &
  (
    | { kind: "text"; format: "text" | "date" | "date-time" | "email" | "url"; multiline: boolean }
    | { kind: "number"; whole: boolean; min?: number; max?: number }
    | { kind: "boolean"; optional: boolean }
    | { kind: "choice"; options: readonly Option[] }
    | { kind: "choices"; options: readonly Option[] }
    | { kind: "list"; item: Field; most?: number }
    | { kind: "object"; fields: readonly Field[] }
    | { kind: "json" }
  );
export type FieldOf<K extends Field["kind"]> = Extract<Field, { kind: K }>;

interface Option {
  label: string;
  value: unknown;
}

/** Deeper than this a form is harder to read than JSON; also where a schema refers to itself. */
const DEEPEST = 4;
/** What is allowed to be longer than this gets more than one line. */
const ONE_LINE = 300;

/** The form of a whole value; of inputs, an object. */
export const buildForm = (schema: JsonSchema): Field =>
  fieldOf("", schema, { root: schema, required: true, depth: 0 });

interface Place {
  root: JsonSchema;
  required: boolean;
  depth: number;
}

function fieldOf(name: string, written: unknown, place: Place): Field {
  const schema = resolved(written, place.root);
  const types = typesOf(schema);
  const nullable = types.includes("null") || (isList(schema["enum"]) && schema["enum"].includes(null));
  const common: Common = {
    name,
    label: text(schema["title"]) || spoken(name),
    help: text(schema["description"]),
    required: place.required && !nullable && !("default" in schema),
    empty: place.required && nullable ? null : undefined,
  };
  return {
    ...common,
    ...shapeOf(
      schema,
      types.filter((type) => type !== "null"),
      place,
    ),
  };
}

type Shape = Field extends infer F ? (F extends Field ? Omit<F, keyof Common> : never) : never;

function shapeOf(schema: JsonSchema, types: readonly string[], place: Place): Shape {
  const options = optionsOf(schema);
  if (options !== undefined) return { kind: "choice", options };
  if (types.length !== 1 || place.depth > DEEPEST) return { kind: "json" };
  switch (types[0]) {
    case "string":
      return textOf(schema);
    case "number":
    case "integer":
      return {
        kind: "number",
        whole: types[0] === "integer",
        ...(typeof schema["minimum"] === "number" && { min: schema["minimum"] }),
        ...(typeof schema["maximum"] === "number" && { max: schema["maximum"] }),
      };
    case "boolean":
      return { kind: "boolean", optional: !place.required && !("default" in schema) };
    case "array":
      return listOf(schema, place);
    case "object":
      return objectOf(schema, place);
    default:
      return { kind: "json" };
  }
}

function textOf({ format, maxLength }: JsonSchema): Shape {
  const formats: Readonly<Record<string, FieldOf<"text">["format"]>> = {
    date: "date",
    "date-time": "date-time",
    email: "email",
    uri: "url",
  };
  const known = typeof format === "string" ? formats[format] : undefined;
  const long = typeof maxLength === "number" && maxLength > ONE_LINE;
  return { kind: "text", format: known ?? "text", multiline: long && known === undefined };
}

function listOf({ items, maxItems, prefixItems }: JsonSchema, { root, depth }: Place): Shape {
  if (items === undefined || typeof items === "boolean" || prefixItems !== undefined) return { kind: "json" };
  const options = optionsOf(resolved(items, root));
  if (options !== undefined) return { kind: "choices", options };
  const item = fieldOf("", items, { root, required: true, depth: depth + 1 });
  if (item.kind === "json" || item.kind === "list") return { kind: "json" };
  return { kind: "list", item, ...(typeof maxItems === "number" && { most: maxItems }) };
}

function objectOf({ properties, required }: JsonSchema, { root, depth }: Place): Shape {
  // Names that the author left open can only be written as JSON.
  if (!isObject(properties)) return { kind: "json" };
  const needed: readonly unknown[] = isList(required) ? required : [];
  const fields = Object.entries(properties).map(([name, schema]) =>
    fieldOf(name, schema, { root, required: needed.includes(name), depth: depth + 1 }),
  );
  return { kind: "object", fields };
}

/** The choices of an `enum`, or of a `oneOf` or `anyOf` of titled constants. */
function optionsOf(schema: JsonSchema): Option[] | undefined {
  if ("const" in schema) return [optionOf(schema["const"])];
  if (isList(schema["enum"]))
    return schema["enum"].filter((value) => value !== null).map((value) => optionOf(value));
  const forms = schema["oneOf"] ?? schema["anyOf"];
  if (!isList(forms) || forms.length === 0) return undefined;
  const constants = forms.filter((form): form is JsonSchema => isObject(form) && "const" in form);
  if (constants.length < forms.length) return undefined;
  return constants.map((form) => optionOf(form["const"], text(form["title"])));
}

const optionOf = (value: unknown, title = ""): Option => ({
  label: title || (typeof value === "string" ? value : JSON.stringify(value)),
  value,
});

function typesOf(schema: JsonSchema): string[] {
  const { type, properties, items } = schema;
  if (typeof type === "string") return [type];
  if (isList(type)) return type.filter((it) => typeof it === "string");
  if (properties !== undefined) return ["object"];
  return items === undefined ? [] : ["array"];
}

/** The schema that a reference inside the document names, with what stands beside it. */
function resolved(written: unknown, root: JsonSchema): JsonSchema {
  let schema = isObject(written) ? written : {};
  for (let hops = 0; typeof schema["$ref"] === "string" && hops < 8; hops += 1) {
    const { $ref, ...beside } = schema;
    const found = pointed($ref, root);
    if (!isObject(found)) return {};
    schema = { ...found, ...beside };
  }
  return schema;
}

function pointed(ref: string, root: JsonSchema): unknown {
  if (!ref.startsWith("#")) return undefined;
  const parts = ref.slice(1).split("/").slice(1);
  return parts
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((here, part) => (isObject(here) ? here[part] : undefined), root);
}

/** `first_name` and `firstName` as people say it: "First name". */
function spoken(name: string): string {
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
 * What a form begins with: the defaults of the schema, and what a form can't show as missing (an unticked box).
 * What is no object has no beginning of its own.
 */
export function initialValue(schema: JsonSchema): Record<string, unknown> {
  const value = initial(schema, { root: schema, required: true, depth: 0 });
  return isObject(value) ? { ...value } : {};
}

function initial(written: unknown, place: Place): unknown {
  const schema = resolved(written, place.root);
  if ("default" in schema) return schema["default"];
  if (!place.required || place.depth > DEEPEST) return undefined;
  const [type, other] = typesOf(schema);
  if (type === "boolean" && other === undefined && optionsOf(schema) === undefined) return false;
  if (type !== "object" || !isObject(schema["properties"])) return undefined;
  const needed: readonly unknown[] = isList(schema["required"]) ? schema["required"] : [];
  const entries = Object.entries(schema["properties"]).map(([name, inner]): [string, unknown] => [
    name,
    initial(inner, { root: place.root, required: needed.includes(name), depth: place.depth + 1 }),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/**
 * Writes a schema with the keywords that all model vendors take in the schema of a tool. What they do not take stands in the
 * description; calls are checked by the schema as it is written.
 */
import type { JsonSchema } from "../json-schema/dialect.ts";

type Node = Record<string, unknown>;

/** Keywords that are listed as they are. */
const LISTED = [
  "title",
  "default",
  "examples",
  "format",
  "pattern",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
];
/** Keywords that only describe. */
const ANNOTATIONS: ReadonlySet<string> = new Set(["title", "description", "default", "examples"]);
/** Keywords that are described in words. */
const IN_WORDS = [
  "not",
  "if",
  "then",
  "else",
  "dependentSchemas",
  "dependentRequired",
  "patternProperties",
  "propertyNames",
  "minProperties",
  "maxProperties",
  "prefixItems",
  "contains",
  "minContains",
  "maxContains",
  "uniqueItems",
  "multipleOf",
  "exclusiveMinimum",
  "exclusiveMaximum",
];
/** Maximum number of schemas that are listed. Forms inside forms are listed once for each form around them. */
const MAX_SCHEMAS = 1_000;
/** Maximum length of what is added to one description, in characters. */
const MAX_WORDS = 1_000;

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
const fieldsOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

interface Listing {
  /** Number of schemas that may still be listed. */
  remaining: number;
}

/**
 * @param schema without references; its root describes an object
 * @returns undefined if too many schemas would be listed
 */
export function listRoot(schema: JsonSchema): Node | undefined {
  const listing: Listing = { remaining: MAX_SCHEMAS };
  const listed = { ...listObject(merged(schema), true, listing), type: "object" };
  return listing.remaining < 0 ? undefined : listed;
}

/** A value of any type. Gemini on Vertex AI refuses a schema without a type, and the MCP Inspector warns of it. */
const ANY_VALUE = {
  description: "Any JSON value.",
  anyOf: ["string", "number", "boolean", "object"].map((type) => ({ type })),
};

function list(schema: unknown, listing: Listing): Node {
  listing.remaining -= 1;
  if (listing.remaining < 0) return {};
  const listed = listTyped(schema, listing);
  return listed["type"] === undefined && listed["anyOf"] === undefined ? { ...ANY_VALUE, ...listed } : listed;
}

function listTyped(schema: unknown, listing: Listing): Node {
  if (!isObject(schema)) return {};
  const whole = merged(schema);
  const choice = ["anyOf", "oneOf"].find((keyword) => Array.isArray(whole[keyword]));
  const forms = choice === undefined ? [] : listOf(whole[choice]);
  if (choice !== undefined && forms.every(standsAlone)) return listForms(whole, choice, forms, listing);
  const types = typesOf(whole);
  const oneEach = types.map((type) => ({ type }));
  if (types.length > 1) return listForms(whole, "type", oneEach, listing);
  return listObject({ ...whole, ...(types.length === 1 && { type: types[0] }) }, false, listing);
}

/** The types of a value that is not null: null stands for a field that is left out. */
function typesOf({ type, ...schema }: JsonSchema): unknown[] {
  const written = type === undefined ? [...new Set(valuesOf(schema).map(typeName))] : [type].flat();
  return written.filter((each) => each !== "null");
}

const typeName = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value;

const valuesOf = (schema: JsonSchema): readonly unknown[] =>
  Object.hasOwn(schema, "const") ? [schema["const"]] : listOf(schema["enum"]);

/** Whether a form says by itself what its values are. */
const standsAlone = (form: unknown): boolean => {
  if (!isObject(form)) return false;
  const { type, anyOf, oneOf, allOf } = form;
  return (
    type !== undefined ||
    valuesOf(form).length > 0 ||
    [anyOf, oneOf, allOf].some((inner) => listOf(inner).some(standsAlone))
  );
};

/**
 * A value with several forms: nothing but a description may stand beside `anyOf`.
 * @param choice the keyword that has them
 */
function listForms(whole: Node, choice: string, forms: readonly unknown[], listing: Listing): Node {
  const beside = Object.entries(whole).filter(([key]) => key !== choice && key !== "type");
  const about = Object.fromEntries(beside.filter(([key]) => ANNOTATIONS.has(key)));
  const shared = Object.fromEntries(beside.filter(([key]) => !ANNOTATIONS.has(key)));
  const listed = forms
    .filter((form) => !isObject(form) || [form["type"]].flat().some((type) => type !== "null"))
    .map((form) => list({ allOf: [form, shared] }, listing));
  if (listed.length === 1) return { ...listed[0], ...about };
  return { ...about, ...(listed.length > 0 && { anyOf: listed }) };
}

/** A value with one form; other forms of an object are described in words, with their fields among its own. */
function listObject(whole: Node, isRoot: boolean, listing: Listing): Node {
  const inWords: Node = Object.fromEntries(
    IN_WORDS.filter((keyword) => Object.hasOwn(whole, keyword)).map((keyword) => [keyword, whole[keyword]]),
  );
  const folded = fold(whole, inWords);
  const { required, additionalProperties, patternProperties, items, unevaluatedProperties } = folded;
  const type = folded["type"] ?? impliedType(folded);
  const values = valuesOf(folded).filter((value) => value !== null);
  const isListed = values.every((value) => typeof value === "string" && value !== "");
  if (values.length > 0 && (isRoot || !isListed)) inWords["enum"] = values;
  const fields = listedFields(folded, listOf(required), listing);
  const closed =
    patternProperties === undefined ? (additionalProperties ?? unevaluatedProperties) : undefined;
  return {
    ...(type !== undefined && { type }),
    ...described(folded["description"], inWords),
    ...(values.length > 0 && !isRoot && isListed && { enum: values }),
    ...Object.fromEntries(
      LISTED.filter((keyword) => Object.hasOwn(folded, keyword)).map((keyword) => [keyword, folded[keyword]]),
    ),
    ...(fields !== undefined && { properties: fields }),
    ...(listOf(required).length > 0 && { required }),
    ...(closed !== undefined && {
      additionalProperties: closed === false ? false : isAnything(closed) || list(closed, listing),
    }),
    ...(type === "array" && { items: list(items, listing) }),
  };
}

const isAnything = (schema: unknown): boolean =>
  schema === true || (isObject(schema) && Object.keys(schema).length === 0);

const impliedType = (node: Node): string | undefined =>
  node["properties"] === undefined ? (node["items"] === undefined ? undefined : "array") : "object";

/** The fields, with those that are only required: vendors refuse a required field that is not listed. */
function listedFields(
  { properties }: Node,
  required: readonly unknown[],
  listing: Listing,
): Node | undefined {
  if (properties === undefined && required.length === 0) return undefined;
  const written = Object.entries(fieldsOf(properties)).filter(([, field]) => field !== false);
  const missing = required.filter((name) => !Object.hasOwn(fieldsOf(properties), String(name)));
  return Object.fromEntries([
    ...written.map(([name, field]) => [name, list(field, listing)] as const),
    ...missing.map((name) => [String(name), ANY_VALUE] as const),
  ]);
}

/** Adds the fields of the forms and branches of an object to its own, and says in `inWords` what they are for. */
function fold(whole: Node, inWords: Node): Node {
  const branches = [whole["then"], whole["else"], ...Object.values(fieldsOf(whole["dependentSchemas"]))];
  const forms = ["anyOf", "oneOf"].flatMap((keyword) => {
    const inner = listOf(whole[keyword]);
    if (inner.length > 0) inWords[keyword] = inner;
    return inner;
  });
  const added = [...forms, ...branches].filter(isObject).map((form) => fold(merged(form), {}));
  const fields = [...added, whole].map((form) => fieldsOf(form["properties"]));
  const properties = Object.assign({}, ...fields) as Node;
  return { ...whole, ...(Object.keys(properties).length > 0 && { properties }) };
}

const described = (description: unknown, inWords: Node): Node => {
  const written = typeof description === "string" ? description : "";
  if (Object.keys(inWords).length === 0) return written === "" ? {} : { description: written };
  const json = JSON.stringify(inWords);
  const words = `Must also match: ${json.length > MAX_WORDS ? `${json.slice(0, MAX_WORDS).toWellFormed()}…` : json}`;
  return { description: written === "" ? words : `${written}\n${words}` };
};

/** A schema with what its `allOf` adds. */
function merged(schema: JsonSchema): Node {
  const { allOf, ...own } = schema;
  return listOf(allOf)
    .filter(isObject)
    .map(merged)
    .reduce((whole, part) => both(whole, part), own);
}

function both(one: Node, other: Node): Node {
  const fields: Node = { ...fieldsOf(one["properties"]) };
  for (const [name, field] of Object.entries(fieldsOf(other["properties"])))
    fields[name] = Object.hasOwn(fields, name) ? { allOf: [fields[name], field] } : field;
  const required = [...new Set([...listOf(one["required"]), ...listOf(other["required"])])];
  const whole = { ...other, ...one };
  // Two choices at once: the second stays beside the first in another keyword, and both are described.
  const choices = [one, other].flatMap((part) =>
    ["anyOf", "oneOf"].flatMap((key) => (part[key] === undefined ? [] : [part[key]])),
  );
  if (choices.length > 1) Object.assign(whole, { anyOf: choices[0], oneOf: choices[1] });
  return {
    ...whole,
    ...(Object.keys(fields).length > 0 && { properties: fields }),
    ...(required.length > 0 && { required }),
  };
}

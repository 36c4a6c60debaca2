/**
 * Writes a schema with the keywords that all model vendors take in the schema of a tool. What they do not take stands in the
 * description; calls are checked by the schema as it is written.
 */
import { canonicalJson } from "../canonical-json.ts";
import { acceptsType, typeName } from "../json-schema/accepted-types.ts";
import type { JsonSchema } from "../json-schema/dialect.ts";
import { isSchemaObject } from "../json-schema/map-schemas.ts";
import { ANNOTATIONS, EXAMPLES, fieldsOf, listOf, merged, type Node } from "./merge-schemas.ts";
import { portableRules, valueType } from "./portable-rules.ts";

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
  const listed = listObject({ ...merged(schema), type: "object" }, true, listing);
  return listing.remaining < 0 ? undefined : listed;
}

/** A value of any type. Gemini on Vertex AI refuses a schema without a type, and the MCP Inspector warns of it. */
const ANY_VALUE = { anyOf: ["string", "number", "boolean", "object"].map((type) => ({ type })) };

/** @param words what else its description says */
function list(schema: unknown, listing: Listing, words = ""): Node {
  listing.remaining -= 1;
  if (listing.remaining < 0) return {};
  const listed = listTyped(schema, listing);
  const whole = words === "" ? listed : { ...listed, description: joined(listed["description"], words) };
  return whole["type"] === undefined ? aboutForms({ ...ANY_VALUE, ...whole }) : whole;
}

/** Says in the first form what stands beside `anyOf`: Gemini on Vertex AI refuses every other keyword there. */
function aboutForms({ anyOf, ...about }: Node): Node {
  const { title, description = title, default: value, examples } = about;
  const isAny = anyOf === ANY_VALUE.anyOf;
  const words = [
    isText(description) ? description : isAny && "Any JSON value, also a list.",
    value !== undefined && `Default: ${JSON.stringify(value)}.`,
    listOf(examples).length > 0 && `Examples: ${JSON.stringify(examples).slice(1, -1)}.`,
  ].filter(isText);
  return { anyOf: groupObjects(withWords(listOf(anyOf) as Node[], words.join("\n"))) };
}

/**
 * Puts objects among forms of other types into a list of their own. `@langchain/mcp-adapters` (1.1) would keep nothing but the
 * objects, and refuse all other arguments itself; a list of forms inside it leaves out whole.
 */
function groupObjects(forms: readonly Node[]): readonly Node[] {
  const objects = forms.filter(isObjectForm);
  if (objects.length === 0 || objects.length === forms.length) return forms;
  return [...forms.filter((form) => !isObjectForm(form)), { anyOf: objects }];
}

const isObjectForm = ({ type, properties }: Node): boolean => type === "object" || properties !== undefined;

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

function withWords([first = {}, ...others]: readonly Node[], words: string): Node[] {
  const { description, anyOf } = first;
  if (anyOf !== undefined) return [{ anyOf: withWords(listOf(anyOf) as Node[], words) }, ...others];
  const texts = [words, description].filter(isText);
  return [{ ...first, ...(texts.length > 0 && { description: texts.join("\n") }) }, ...others];
}

function listTyped(schema: unknown, listing: Listing): Node {
  if (!isSchemaObject(schema)) return {};
  const whole = withoutNull(merged(schema));
  const choice = ["anyOf", "oneOf"].find((keyword) => Array.isArray(whole[keyword]));
  const forms = choice === undefined ? [] : listOf(whole[choice]);
  if (choice !== undefined && forms.every(standsAlone)) return listForms(whole, choice, forms, listing);
  const types = typesOf(whole);
  const { type, ...untyped } = whole;
  if (types.length > 1)
    return listForms(
      whole,
      "type",
      types.map((each) => ({ type: each })),
      listing,
    );
  if (types.length === 1) return listObject({ ...untyped, type: types[0] }, false, listing);
  return type === undefined ? listObject(untyped, false, listing) : described(whole["description"], { type });
}

/** A value that can't be left out: where it may be null, which is not among the listed types, its description says so. */
function listPresent(schema: unknown, listing: Listing): Node {
  const question = { kind: "null", root: {}, known: new Map() } as const;
  return list(schema, listing, standsAlone(schema) && acceptsType(schema, question) ? "May be null." : "");
}

/** A schema without null as its default and among its examples. */
const withoutNull = ({ default: value, examples, ...others }: Node): Node => ({
  ...others,
  ...(value !== undefined && value !== null && { default: value }),
  ...(examples !== undefined && { examples: listOf(examples).filter((example) => example !== null) }),
});

/** The types of a value that is not null: null stands for a field that is left out. */
function typesOf({ type, ...schema }: JsonSchema): unknown[] {
  const found = new Set<unknown>(valuesOf(schema).map(typeName));
  const written = type === undefined ? [...found] : [type].flat();
  return written.filter((each) => each !== "null" && (found.size === 0 || found.has(valueType(each))));
}

const valuesOf = (schema: JsonSchema): readonly unknown[] =>
  Object.hasOwn(schema, "const") ? [schema["const"]] : listOf(schema["enum"]);

/** Whether a form says by itself what its values are. */
const standsAlone = (form: unknown): boolean => {
  if (!isSchemaObject(form)) return false;
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
    .filter((form) => !isSchemaObject(form) || [form["type"]].flat().some((type) => type !== "null"))
    .map((form) => list({ allOf: [form, shared] }, listing));
  const [only] = listed;
  if (only !== undefined && listed.length === 1) {
    const texts = [about["description"], only["description"]].filter(isText);
    return { ...only, ...about, ...(texts.length > 0 && { description: texts.join("\n") }) };
  }
  return { ...about, ...(listed.length > 0 && { anyOf: listed }) };
}

/** A value with one form; other forms of an object are described in words, with their fields among its own. */
function listObject(whole: Node, isRoot: boolean, listing: Listing): Node {
  const inWords: Node = Object.fromEntries(
    IN_WORDS.filter((keyword) => Object.hasOwn(whole, keyword)).map((keyword) => [keyword, whole[keyword]]),
  );
  const folded = fold(whole, inWords);
  const { required, additionalProperties, patternProperties, unevaluatedProperties } = folded;
  const type = folded["type"] ?? impliedType(folded);
  const values = valuesOf(folded).filter(
    (value) => value !== null && (type === undefined || typeName(value) === valueType(type)),
  );
  const isListed = values.every((value) => typeof value === "string" && value !== "");
  if (values.length > 0 && (isRoot || !isListed)) inWords["enum"] = values;
  const rules = portableRules(folded, type);
  Object.assign(inWords, rules.inWords);
  if (type === undefined) Object.assign(inWords, shapeRules(folded));
  const fields = listedFields(folded, listOf(required), listing);
  const closed =
    patternProperties === undefined ? (additionalProperties ?? unevaluatedProperties) : undefined;
  return {
    ...(type !== undefined && { type }),
    ...described(folded["description"], inWords),
    ...(values.length > 0 && !isRoot && isListed && { enum: values }),
    ...Object.fromEntries(
      EXAMPLES.filter((keyword) => Object.hasOwn(folded, keyword)).map((keyword) => [
        keyword,
        folded[keyword],
      ]),
    ),
    ...rules.listed,
    ...(fields !== undefined && { properties: fields }),
    ...(listOf(required).length > 0 && { required }),
    ...(closed !== undefined && {
      additionalProperties: closed === false ? false : isAnything(closed) || listPresent(closed, listing),
    }),
    ...(type === "array" && { items: listPresent(itemsOf(folded), listing) }),
  };
}

/** Rules about the shape of a value that may have any type: its list of forms has no place for them. */
function shapeRules({ required, additionalProperties, unevaluatedProperties }: Node): Node {
  const closed = additionalProperties ?? unevaluatedProperties ?? true;
  return {
    ...(listOf(required).length > 0 && { required }),
    ...(!isAnything(closed) && { additionalProperties: closed }),
  };
}

/** A schema of all items, also of those that have a schema for their place. */
const itemsOf = ({ prefixItems, items }: Node): unknown =>
  prefixItems === undefined
    ? items
    : { anyOf: [...listOf(prefixItems), items ?? {}].filter((item) => item !== false) };

const isAnything = (schema: unknown): boolean =>
  schema === true || (isSchemaObject(schema) && Object.keys(schema).length === 0);

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
    ...written.map(([name, field]) => {
      const listed = required.includes(name) ? listPresent(field, listing) : list(field, listing);
      return [name, listed] as const;
    }),
    ...missing.map((name) => [String(name), aboutForms(ANY_VALUE)] as const),
  ]);
}

/** Adds the fields of the forms and branches of an object to its own, and says in `inWords` what they are for. */
function fold(whole: Node, inWords: Node): Node {
  const branches = [whole["then"], whole["else"], ...Object.values(fieldsOf(whole["dependentSchemas"]))];
  const forms = ["anyOf", "oneOf", "allOf"].flatMap((keyword) => {
    const inner = listOf(whole[keyword]);
    if (inner.length > 0) inWords[keyword] = inner;
    return inner;
  });
  const added = [...forms, ...branches].filter(isSchemaObject).map((form) => fold(merged(form), {}));
  const properties = { ...fieldsOfForms(added), ...fieldsOf(whole["properties"]) };
  return { ...whole, ...(Object.keys(properties).length > 0 && { properties }) };
}

/** The fields of several forms of an object. One that several of them have may be as each says. */
function fieldsOfForms(forms: readonly Node[]): Node {
  const byName = new Map<string, Map<string, unknown>>();
  for (const [name, field] of forms.flatMap(({ properties }) => Object.entries(fieldsOf(properties)))) {
    const found = byName.get(name) ?? new Map<string, unknown>();
    byName.set(name, found.set(canonicalJson(field), field));
  }
  return Object.fromEntries([...byName].map(([name, found]) => [name, oneOfEach([...found.values()])]));
}

function oneOfEach(schemas: readonly unknown[]): unknown {
  if (schemas.length === 1) return schemas[0];
  const listValues = schemas.every(
    (schema) =>
      isSchemaObject(schema) &&
      valuesOf(schema).length > 0 &&
      Object.keys(schema).every((keyword) => ["type", "const", "enum"].includes(keyword)),
  );
  return listValues
    ? { enum: [...new Set(schemas.filter(isSchemaObject).flatMap(valuesOf))] }
    : { anyOf: schemas };
}

const described = (description: unknown, inWords: Node): Node => {
  if (Object.keys(inWords).length === 0)
    return typeof description === "string" && description !== "" ? { description } : {};
  const shown: Node = {};
  const left: string[] = [];
  for (const [keyword, value] of Object.entries(inWords))
    if (JSON.stringify({ ...shown, [keyword]: value }).length <= MAX_WORDS) shown[keyword] = value;
    else left.push(keyword);
  const parts = [
    ...(Object.keys(shown).length > 0 ? [JSON.stringify(shown)] : []),
    ...(left.length > 0 ? [`${left.join(", ")}, which get_workflow has in full`] : []),
  ];
  return { description: joined(description, `Must also match: ${parts.join("; and ")}`) };
};

const joined = (description: unknown, words: string): string =>
  typeof description === "string" && description !== "" ? `${description}\n${words}` : words;

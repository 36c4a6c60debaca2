/** Finds the JSON Schema that a written one means: with types of other languages, or with only the names of its fields. */
import { KEYWORDS } from "../../../core/json-schema/dialect.ts";
import { schemaIssues } from "../../../core/json-schema/index.ts";
import { nearMatch } from "../../../core/near-match.ts";
import { normalizeName } from "../../../core/field-aliases.ts";
import type { Fields } from "./intended-fields.ts";

const TYPES: Readonly<Record<string, Fields>> = {
  str: { type: "string" },
  text: { type: "string" },
  varchar: { type: "string" },
  uuid: { type: "string", format: "uuid" },
  email: { type: "string", format: "email" },
  url: { type: "string", format: "uri" },
  uri: { type: "string", format: "uri" },
  date: { type: "string", format: "date" },
  datetime: { type: "string", format: "date-time" },
  timestamp: { type: "string", format: "date-time" },
  int: { type: "integer" },
  long: { type: "integer" },
  float: { type: "number" },
  double: { type: "number" },
  decimal: { type: "number" },
  bool: { type: "boolean" },
  list: { type: "array" },
  dict: { type: "object" },
  map: { type: "object" },
  json: {},
  any: {},
};

const KNOWN_TYPES: ReadonlySet<string> = new Set([
  "string",
  "number",
  "integer",
  "boolean",
  "array",
  "object",
  "null",
]);

const SYNONYMS: Readonly<Record<string, string>> = {
  options: "enum",
  choices: "enum",
  allowed: "enum",
  allowedvalues: "enum",
  defaultvalue: "default",
  min: "minimum",
  max: "maximum",
  regex: "pattern",
  label: "title",
  fields: "properties",
  props: "properties",
};

/** Keywords of other schema languages, which are not fields. */
const FLAGS: ReadonlySet<string> = new Set(["nullable", "optional"]);

/** Returns the keyword that a key stands for. */
const keywordOf = (key: string): string | undefined =>
  KEYWORDS.has(key) ? key : (SYNONYMS[normalizeName(key)] ?? nearMatch(key, KEYWORDS.keys()));

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Returns the schema of an object that a value means.
 * @param written `inputs`, `output_schema` or `form` as written
 * @param mustBeObject whether the schema has to be that of an object
 * @returns undefined if the value is a valid schema already, or it is not known which is meant
 */
export function intendSchema(written: unknown, mustBeObject: boolean): Fields | undefined {
  if (isValid(written, mustBeObject)) return undefined;
  const candidates = [corrected(written), objectOfFields(written), objectOfList(written)];
  return candidates.find(
    (candidate): candidate is Fields => isObject(candidate) && isValid(candidate, mustBeObject),
  );
}

const isValid = (schema: unknown, mustBeObject: boolean): boolean =>
  isObject(schema) && (!mustBeObject || schema["type"] === "object") && schemaIssues(schema).length === 0;

/** Corrects the keywords and types of a schema, and adds the type of an object that has properties. */
function corrected(schema: unknown): unknown {
  if (typeof schema === "string") return typeOfName(schema) ?? schema;
  if (!isObject(schema)) return schema;
  const result: Record<string, unknown> = {};
  const loose: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    const keyword = keywordOf(key);
    const name = keyword === undefined || Object.hasOwn(schema, keyword) ? key : keyword;
    if (keyword === undefined && !FLAGS.has(key) && isObject(value)) loose[key] = value;
    else Object.assign(result, name === "type" ? correctedType(value) : { [name]: value });
  }
  if (Object.keys(loose).length > 0) result["properties"] = { ...(result["properties"] as object), ...loose };
  if (isObject(result["properties"])) Object.assign(result, correctedProperties(result));
  if (result["items"] !== undefined) result["items"] = corrected(result["items"]);
  if (result["properties"] !== undefined && result["type"] === undefined) result["type"] = "object";
  if (result["nullable"] === true && typeof result["type"] === "string")
    result["type"] = [result["type"], "null"];
  delete result["nullable"];
  return result;
}

function correctedType(type: unknown): Fields {
  if (typeof type !== "string") return { type };
  return typeOfName(type) ?? { type };
}

/** Reads `string`, `int`, `string[]`, `list of text`, `string?`. */
function typeOfName(name: string): Fields | undefined {
  const text = name.trim().toLowerCase();
  const item = /^(.+)\[\]$/.exec(text)?.[1] ?? /^(?:list|array)(?: of |<)([^>]+)>?$/.exec(text)?.[1];
  if (item !== undefined) {
    const items = typeOfName(item);
    return items && { type: "array", items };
  }
  if (KNOWN_TYPES.has(text)) return { type: text };
  return Object.hasOwn(TYPES, normalizeName(text)) ? TYPES[normalizeName(text)] : undefined;
}

/** Corrects each property, and collects `required: true` of properties in the list of the object. */
function correctedProperties(schema: Fields): Fields {
  const listed = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  const required = new Set(listed);
  const properties = Object.entries(schema["properties"] as Fields).map(([name, written]) => {
    if (!isObject(written)) return [name, corrected(written)] as const;
    const { required: isRequired, optional, ...property } = written;
    const hasFlag = typeof isRequired === "boolean";
    if (isRequired === true || optional === false) required.add(name);
    const kept = hasFlag || isRequired === undefined ? property : { ...property, required: isRequired };
    return [
      name,
      corrected(typeof optional === "boolean" || optional === undefined ? kept : { ...kept, optional }),
    ] as const;
  });
  return {
    properties: Object.fromEntries(properties),
    ...(required.size > 0 && { required: [...required] }),
  };
}

/** Reads an object of names with their schemas or types: `{since: {type: string}, n: int}`. */
function objectOfFields(written: unknown): unknown {
  if (!isObject(written)) return undefined;
  const entries = Object.entries(written);
  const isField = (value: unknown): boolean =>
    isObject(value)
      ? Object.keys(value).length > 0
      : typeof value === "string" && typeOfName(value) !== undefined;
  if (entries.length === 0 || !entries.every(([, value]) => isField(value))) return undefined;
  return corrected({ type: "object", properties: written });
}

/** Reads a list of fields with names: `[{name: since, type: string}]`. */
function objectOfList(written: unknown): unknown {
  if (!Array.isArray(written) || written.length === 0) return undefined;
  const fields = written.map((field: unknown): [unknown, unknown] => {
    if (typeof field === "string") return [field, {}];
    if (!isObject(field)) return [undefined, undefined];
    const { name, id, key, ...schema } = field;
    return [name ?? id ?? key, schema];
  });
  if (!fields.every(([name]) => typeof name === "string")) return undefined;
  return corrected({ type: "object", properties: Object.fromEntries(fields as [string, unknown][]) });
}

/** Decides which types of values a schema may accept, and which of its forms a value can match. */
import { isLongNumber, readNumber } from "../../../schemas/long-numbers.ts";
import { valueKey } from "../value-key.ts";
import type { JsonSchema } from "./dialect.ts";
import { resolveRef } from "./references.ts";

type TypeName = "null" | "boolean" | "number" | "string" | "array" | "object";

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Creates a function that decides whether a form is not ruled out by its type and its constants; each form is read once. Its
 * required fields do not rule it out: they are present in a completed value, which must select the same form again.
 * @param asWritten whether a text may stand for the number or the boolean in it, where no constant is a text
 */
export function formMatcher(
  value: object,
  root: JsonSchema,
  { asWritten = false } = {},
): (form: unknown) => boolean {
  const answers = new Map<unknown, boolean>();
  const keys = new Map<string, Keys>();
  const keyOf = (name: string, field: unknown): Keys => {
    const key = keys.get(name) ?? { key: valueKey(field), read: asWritten ? readKey(field) : undefined };
    keys.set(name, key);
    return key;
  };
  return (form) => {
    const answer = answers.get(form) ?? canMatch(form, value, root, keyOf);
    answers.set(form, answer);
    return answer;
  };
}

/** The key of the value of a field, and that of the number or the boolean that it may stand for. */
interface Keys {
  key: string;
  read: string | undefined;
}

type KeyOf = (name: string, field: unknown) => Keys;

function readKey(field: unknown): string | undefined {
  const scalar = typeof field === "string" ? readScalar(field) : undefined;
  return scalar === undefined ? undefined : valueKey(scalar);
}

/** The boolean or the number that a text writes; undefined for any other text. */
export const readScalar = (text: string): boolean | number | string | undefined =>
  text === "true" || text === "false" ? text === "true" : readNumber(text.trim());

function canMatch(form: unknown, value: object, root: JsonSchema, keyOf: KeyOf): boolean {
  const schema = isObject(form) && typeof form["$ref"] === "string" ? resolveRef(form["$ref"], root) : form;
  if (!isObject(schema)) return schema !== false;
  const { type, required, properties } = schema;
  if (type !== undefined && ![type].flat().includes(Array.isArray(value) ? "array" : "object")) return false;
  if (Object.hasOwn(schema, "const") || Object.hasOwn(schema, "enum")) return false;
  if (!isObject(value) || !isObject(properties)) return true;
  // Null may stand for an absent field. A required field that is absent is null once another form completes the value.
  return Object.entries(properties).every(([name, field]) => {
    const given = Object.hasOwn(value, name) ? (value[name] ?? null) : null;
    if (given === null && !(Array.isArray(required) && required.includes(name))) return true;
    const allowed =
      typeof given === "object" && given !== null ? undefined : allowedKeys(valueSchema(field, root));
    if (allowed === undefined) return true;
    const { key, read } = keyOf(name, given);
    return allowed.keys.has(key) || (read !== undefined && !allowed.hasText && allowed.keys.has(read));
  });
}

/** Maximum number of references that lead to the values of a field; those behind more do not rule a form out. */
const MAX_REFERENCES = 10;

/** The schema that says which values a field may have: its own, or the one that it refers to. */
function valueSchema(field: unknown, root: JsonSchema): unknown {
  let schema = field;
  for (let followed = 0; followed < MAX_REFERENCES; followed += 1) {
    if (!isObject(schema) || typeof schema["$ref"] !== "string") return schema;
    if (Object.hasOwn(schema, "const") || Object.hasOwn(schema, "enum")) return schema;
    schema = resolveRef(schema["$ref"], root);
  }
  return schema;
}

interface AllowedKeys {
  keys: ReadonlySet<string>;
  hasText: boolean;
}

const knownKeys = new WeakMap<object, AllowedKeys>();

/** The keys of the values that `const` and `enum` of a schema allow; undefined where it has neither. */
function allowedKeys(schema: unknown): AllowedKeys | undefined {
  if (!isObject(schema)) return undefined;
  const known = knownKeys.get(schema);
  if (known !== undefined) return known;
  const allowed = Object.hasOwn(schema, "const") ? [schema["const"]] : schema["enum"];
  if (!Array.isArray(allowed)) return undefined;
  const hasText = allowed.some((each) => typeof each === "string" && !isLongNumber(each));
  const keys = { keys: new Set(allowed.map(valueKey)), hasText };
  knownKeys.set(schema, keys);
  return keys;
}

export interface Question {
  kind: TypeName;
  root: JsonSchema;
  /** The answers of schemas that were asked already, and true for those that are being asked: a reference can lead back. */
  known: Map<object, boolean>;
}

/** Whether a schema may accept values of a type. */
export function acceptsType(schema: unknown, question: Question): boolean {
  if (!isObject(schema)) return schema !== false;
  const { kind, root, known } = question;
  const answer = known.get(schema);
  if (answer !== undefined) return answer;
  known.set(schema, true);
  const accepts = (inner: unknown): boolean => acceptsType(inner, question);
  const { $ref, type, allOf, anyOf, oneOf } = schema;
  const values = Object.hasOwn(schema, "const") ? [schema["const"]] : schema["enum"];
  const isAccepted =
    (type === undefined ||
      [type].flat().some((each) => each === kind || (each === "integer" && kind === "number"))) &&
    (!Array.isArray(values) || values.some((value) => typeName(value) === kind)) &&
    (typeof $ref !== "string" || accepts(resolveRef($ref, root))) &&
    (!Array.isArray(allOf) || allOf.every(accepts)) &&
    (!Array.isArray(anyOf) || anyOf.some(accepts)) &&
    // Null is one value, so it matches one form only; of lists and texts there are many.
    (!Array.isArray(oneOf) || (kind === "null" ? oneOf.filter(accepts).length === 1 : oneOf.some(accepts)));
  known.set(schema, isAccepted);
  return isAccepted;
}

/** The type of a JSON value, as a schema names it; a whole number is a `number`. */
export const typeName = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value;

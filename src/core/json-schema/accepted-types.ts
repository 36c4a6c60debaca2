/** Decides which types of values a schema may accept, and which of its forms a value can match. */
import { valueKey } from "../value-key.ts";
import type { JsonSchema } from "./dialect.ts";
import { resolveRef } from "./references.ts";

type TypeName = "null" | "boolean" | "number" | "string" | "array" | "object";

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Creates a function that decides whether a form is not ruled out by its type and its constants; each form is read once. Its
 * required fields do not rule it out: they are present in a completed value, which must select the same form again.
 */
export function formMatcher(value: object, root: JsonSchema): (form: unknown) => boolean {
  const answers = new Map<unknown, boolean>();
  const keys = new Map<string, string>();
  const keyOf = (name: string, field: unknown): string => {
    const key = keys.get(name) ?? valueKey(field);
    keys.set(name, key);
    return key;
  };
  return (form) => {
    const answer = answers.get(form) ?? canMatch(form, value, root, keyOf);
    answers.set(form, answer);
    return answer;
  };
}

/** Returns the key of the value of a field. */
type KeyOf = (name: string, field: unknown) => string;

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
    const allowed = typeof given === "object" && given !== null ? undefined : allowedKeys(field);
    return allowed === undefined || allowed.has(keyOf(name, given));
  });
}

const knownKeys = new WeakMap<object, ReadonlySet<string>>();

/** The keys of the values that `const` and `enum` of a schema allow; undefined where it has neither. */
function allowedKeys(schema: unknown): ReadonlySet<string> | undefined {
  if (!isObject(schema)) return undefined;
  const known = knownKeys.get(schema);
  if (known !== undefined) return known;
  const allowed = Object.hasOwn(schema, "const") ? [schema["const"]] : schema["enum"];
  if (!Array.isArray(allowed)) return undefined;
  const keys = new Set(allowed.map(valueKey));
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

const typeName = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value;

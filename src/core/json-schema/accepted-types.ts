/** Decides which types of values a schema may accept, and which of its forms a value can match. */
import { valueKey } from "../value-key.ts";
import type { JsonSchema } from "./dialect.ts";
import { resolveRef } from "./references.ts";

type TypeName = "null" | "boolean" | "number" | "string" | "array" | "object";

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Whether a form is not ruled out by its type and its constants. Its required fields do not rule it out: they are present
 * in a completed value, which must select the same form again.
 */
export function canMatch(form: unknown, value: object, root: JsonSchema): boolean {
  const schema = isObject(form) && typeof form["$ref"] === "string" ? resolveRef(form["$ref"], root) : form;
  if (!isObject(schema)) return schema !== false;
  const { type, required, properties } = schema;
  if (type !== undefined && ![type].flat().includes(Array.isArray(value) ? "array" : "object")) return false;
  if (Object.hasOwn(schema, "const") || Object.hasOwn(schema, "enum")) return false;
  if (!isObject(value) || !isObject(properties)) return true;
  const valueOf = (name: string): unknown => (Object.hasOwn(value, name) ? (value[name] ?? null) : null);
  // Null may stand for an absent field.
  const isAbsent = (name: string): boolean =>
    valueOf(name) === null && !(Array.isArray(required) && required.includes(name));
  // A required field that is absent is null once another form completes the value.
  return Object.entries(properties).every(([name, field]) => isAbsent(name) || canBe(field, valueOf(name)));
}

/** Whether `const` and `enum` of a field allow a value that is not a list or an object. */
function canBe(schema: unknown, value: unknown): boolean {
  if (!isObject(schema) || (typeof value === "object" && value !== null)) return true;
  const allowed = Object.hasOwn(schema, "const") ? [schema["const"]] : schema["enum"];
  if (!Array.isArray(allowed)) return true;
  const key = valueKey(value);
  return allowed.some((each) => valueKey(each) === key);
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

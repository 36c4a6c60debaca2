/**
 * Makes JSON Schemas take long numbers: a text with the digits of a number that a double can't hold matches `type: integer` and
 * `type: number`, and its limits are compared exactly. It still matches `type: string` as the text that it is.
 */
import type { Ajv2020, FuncKeywordDefinition } from "ajv/dist/2020.js";
import { calculateExactly, compareNumbers } from "../long-number-arithmetic.ts";
import { isLongNumber } from "../../../schemas/long-numbers.ts";
import { type JsonSchema, KEYWORDS } from "./dialect.ts";
import { pointerPart } from "./references.ts";

/** The keyword, of our own, that stands for the numeric ones where a value is a long number. Its value is the schema as written. */
export const LONG_NUMBER_KEYWORD = "longNumber";

/** Keywords for text, which say nothing about a value that has to be a number. */
const TEXT_KEYWORDS = ["minLength", "maxLength", "pattern", "format"];

/** The id of the schema as written, among those of a validator. */
const WRITTEN = "millrace:written";
/** The id of a schema that every value matches. */
const ANY = "millrace:any";

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const typesOf = ({ type }: JsonSchema): unknown[] | undefined =>
  type === undefined ? undefined : [type].flat();

const takesNumbers = (types: readonly unknown[]): boolean =>
  types.includes("number") || types.includes("integer");

/** Whether a JSON value contains a long number. */
export function containsLongNumber(value: unknown): boolean {
  const stack: unknown[] = [value];
  while (stack.length > 0) {
    const next = stack.pop();
    if (isLongNumber(next)) return true;
    if (typeof next === "object" && next !== null) for (const inner of Object.values(next)) stack.push(inner);
  }
  return false;
}

interface Options {
  /** Whether each schema stays where it is. Then a long number that matches two forms of `oneOf` is refused. */
  keepsPaths?: boolean;
}

/**
 * Prepares a validator for a schema in which numbers may be long numbers.
 * @returns the schema to compile with it
 */
export function acceptLongNumbers(
  ajv: Ajv2020,
  schema: JsonSchema,
  { keepsPaths = false }: Options = {},
): JsonSchema {
  ajv.addKeyword(KEYWORD);
  ajv.addSchema(asWritten(schema) as JsonSchema, WRITTEN, undefined, false);
  ajv.addSchema({}, ANY, undefined, false);
  return rewrite(schema, "#", keepsPaths) as JsonSchema;
}

/**
 * Copies a schema so that references to the forms of `oneOf` only decide whether these match: without defaults, which a form that
 * does not match would fill in too.
 */
function asWritten(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => {
    const inner = mapSchemas(key, value, "", asWritten);
    return [key, key === "oneOf" && Array.isArray(inner) ? inner.map(asForm) : inner];
  });
  return Object.fromEntries(entries.filter(([key]) => key !== "default"));
}

/** Begins a form with a reference, which keeps ajv from inlining it: to decide about that takes 2^n times as long in n levels. */
const asForm = (form: unknown): unknown => (isObject(form) ? { $ref: ANY, ...form } : form);

/** @param pointer where the schema is in the written one */
function rewrite(schema: unknown, pointer: string, keepsPaths: boolean): unknown {
  if (!isObject(schema)) return schema;
  const entries = Object.entries(schema).map(([key, value]) => [
    key,
    mapSchemas(key, value, `${pointer}/${key}`, (inner, at) => rewrite(inner, at, keepsPaths)),
  ]);
  const rewritten = Object.fromEntries(entries) as Record<string, unknown>;
  const types = typesOf(schema);
  if (
    types === undefined ? LIMITS.some(({ keyword }) => Object.hasOwn(schema, keyword)) : takesNumbers(types)
  )
    Object.assign(rewritten, { [LONG_NUMBER_KEYWORD]: schema });
  if (types !== undefined && takesNumbers(types) && !types.includes("string")) {
    for (const keyword of TEXT_KEYWORDS) delete rewritten[keyword];
    rewritten["type"] = [...types, "string"];
  }
  const { oneOf } = rewritten;
  if (!Array.isArray(oneOf) || keepsPaths) return rewritten;
  // A long number that is a number in one form and text in another one matches both: then the text counts.
  delete rewritten["oneOf"];
  const asText = oneOf.map((_, index) => ({ $ref: `${WRITTEN}${pointer}/oneOf/${index}` }));
  const allOf = (rewritten["allOf"] ?? []) as unknown[];
  return { ...rewritten, allOf: [...allOf, { anyOf: [{ oneOf: asText }, { oneOf }] }] };
}

/**
 * Replaces the schemas that a keyword contains.
 * @param pointer where the keyword is
 */
function mapSchemas(
  key: string,
  value: unknown,
  pointer: string,
  replace: (schema: unknown, pointer: string) => unknown,
): unknown {
  const kind = KEYWORDS.get(key);
  if (kind === "schema") return replace(value, pointer);
  if (kind === "schemas" && Array.isArray(value))
    return value.map((inner: unknown, index) => replace(inner, `${pointer}/${index}`));
  if (kind !== "named" || !isObject(value)) return value;
  const inner = Object.entries(value).map(([name, schema]) => [
    name,
    replace(schema, `${pointer}/${pointerPart(name)}`),
  ]);
  return Object.fromEntries(inner);
}

interface NumericLimit {
  keyword: string;
  holds(value: string, limit: number): boolean;
}

const LIMITS: readonly NumericLimit[] = [
  { keyword: "minimum", holds: (value, limit) => compareNumbers(value, limit) >= 0 },
  { keyword: "maximum", holds: (value, limit) => compareNumbers(value, limit) <= 0 },
  { keyword: "exclusiveMinimum", holds: (value, limit) => compareNumbers(value, limit) > 0 },
  { keyword: "exclusiveMaximum", holds: (value, limit) => compareNumbers(value, limit) < 0 },
  { keyword: "multipleOf", holds: (value, limit) => calculateExactly("%", value, limit) === 0 },
];

type Errors = NonNullable<NonNullable<FuncKeywordDefinition["validate"]>["errors"]>;

const validate: NonNullable<FuncKeywordDefinition["validate"]> = (
  schema: JsonSchema,
  value: unknown,
): boolean => {
  if (typeof value !== "string") return true;
  const types = typesOf(schema);
  const isText = types === undefined || types.includes("string");
  const errors: Errors = [];
  if (!isLongNumber(value) || (types !== undefined && !types.includes("number") && hasFraction(value))) {
    if (isText) return true;
    errors.push({ keyword: "type", params: { type: schema["type"] } });
  } else
    for (const { keyword, holds } of LIMITS) {
      const limit = schema[keyword];
      if (typeof limit === "number" && !holds(value, limit))
        errors.push({ keyword, params: paramsOf(keyword, limit) });
    }
  validate.errors = errors;
  return errors.length === 0;
};

const KEYWORD: FuncKeywordDefinition = { keyword: LONG_NUMBER_KEYWORD, type: "string", validate };

const paramsOf = (keyword: string, limit: number): Record<string, unknown> =>
  keyword === "multipleOf" ? { multipleOf: limit } : { limit };

const hasFraction = (value: string): boolean => /\.0*[1-9]/.test(value);

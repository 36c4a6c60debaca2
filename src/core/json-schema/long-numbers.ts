/**
 * Makes JSON Schemas take long numbers: a text with the digits of a number that a double can't hold matches `type: integer` and
 * `type: number`, its limits are compared exactly, and it equals each spelling of the same number. It still matches `type: string` as
 * the text that it is. Limits may be long numbers too.
 */
import type { Ajv2020, FuncKeywordDefinition } from "ajv/dist/2020.js";
import type { DataValidateFunction } from "ajv/dist/types/index.js";
import {
  calculateExactly,
  compareNumbers,
  type ExactNumber,
  isExactNumber,
} from "../long-number-arithmetic.ts";
import { isLongNumber } from "../../../schemas/long-numbers.ts";
import { valueKey } from "../value-key.ts";
import type { JsonSchema } from "./dialect.ts";
import { isLongLimit } from "./long-limits.ts";
import { isSchemaObject, mapInnerSchemas, mapSchemas, takesNumbers, typesOf } from "./map-schemas.ts";

/** The keyword, of our own, that stands for those that compare numbers. Its value is the schema as written. */
export const LONG_NUMBER_KEYWORD = "longNumber";

/** Keywords for text, which say nothing about a value that has to be a number. */
const TEXT_KEYWORDS = ["minLength", "maxLength", "pattern", "format"];

/** The id of the schema as written, among those of a validator. */
const WRITTEN = "millrace:written";
/** The id of a schema that every value matches. */
const ANY = "millrace:any";

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
 * does not match would fill in too. Limits that are long numbers are compared by the keyword.
 */
function asWritten(schema: unknown): unknown {
  if (!isSchemaObject(schema)) return schema;
  const { default: _, oneOf, ...others } = mapInnerSchemas(schema, asWritten);
  const copy: Record<string, unknown> = {};
  const limits: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(others))
    (isLongLimit(keyword, value) ? limits : copy)[keyword] = value;
  if (Object.keys(limits).length > 0)
    copy[LONG_NUMBER_KEYWORD] = Object.hasOwn(schema, "type") ? { ...limits, type: schema["type"] } : limits;
  if (oneOf !== undefined) copy["oneOf"] = Array.isArray(oneOf) ? oneOf.map(asForm) : oneOf;
  return copy;
}

/** Begins a form with a reference, which keeps ajv from inlining it: to decide about that takes 2^n times as long in n levels. */
const asForm = (form: unknown): unknown => (isSchemaObject(form) ? { $ref: ANY, ...form } : form);

/** @param pointer where the schema is in the written one */
function rewrite(schema: unknown, pointer: string, keepsPaths: boolean): unknown {
  if (!isSchemaObject(schema)) return schema;
  const entries = Object.entries(schema).map(([key, value]) => [
    key,
    mapSchemas(key, value, `${pointer}/${key}`, (inner, at) => rewrite(inner, at, keepsPaths)),
  ]);
  const rewritten = Object.fromEntries(entries) as Record<string, unknown>;
  const types = typesOf(schema);
  if (concernsNumbers(schema)) rewritten[LONG_NUMBER_KEYWORD] = schema;
  // Also where only text matches, because the validator takes no text as a limit.
  for (const keyword of comparedKeywords(schema)) delete rewritten[keyword];
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

/** Whether a schema says something about numbers, or compares values that may be numbers or contain them. */
function concernsNumbers(schema: JsonSchema): boolean {
  const types = typesOf(schema);
  if (types !== undefined && takesNumbers(types)) return true;
  return (
    comparesValues(schema) ||
    (types === undefined && LIMITS.some(({ keyword }) => Object.hasOwn(schema, keyword)))
  );
}

/** The keywords whose rule is the one of our own alone. The limits that are doubles stay, for doubles. */
const comparedKeywords = (schema: JsonSchema): string[] =>
  Object.keys(schema).filter(
    (keyword) =>
      isLongLimit(keyword, schema[keyword]) ||
      (EQUALITY_KEYWORDS.includes(keyword) && comparesBy(schema, keyword)),
  );

/** Keywords by which a schema compares values with others. */
const EQUALITY_KEYWORDS = ["const", "enum", "uniqueItems"];

/** Whether a schema compares values that are not always text. */
const comparesValues = (schema: JsonSchema): boolean =>
  EQUALITY_KEYWORDS.some((keyword) => comparesBy(schema, keyword));

/** Whether a schema compares values that are not always text by a keyword. */
const comparesBy = (schema: JsonSchema, keyword: string): boolean =>
  Object.hasOwn(schema, keyword) &&
  schema["type"] !== "string" &&
  !(keyword === "uniqueItems" && hasTextItems(schema));

const hasTextItems = ({ items, prefixItems }: JsonSchema): boolean =>
  prefixItems === undefined && isSchemaObject(items) && items["type"] === "string";

interface NumericLimit {
  keyword: string;
  holds(value: ExactNumber, limit: ExactNumber): boolean;
}

const LIMITS: readonly NumericLimit[] = [
  { keyword: "minimum", holds: (value, limit) => compareNumbers(value, limit) >= 0 },
  { keyword: "maximum", holds: (value, limit) => compareNumbers(value, limit) <= 0 },
  { keyword: "exclusiveMinimum", holds: (value, limit) => compareNumbers(value, limit) > 0 },
  { keyword: "exclusiveMaximum", holds: (value, limit) => compareNumbers(value, limit) < 0 },
  { keyword: "multipleOf", holds: (value, limit) => calculateExactly("%", value, limit) === 0 },
];

type Errors = NonNullable<DataValidateFunction["errors"]>;

/** Compiles the keyword. @param schema as written */
function compile(schema: JsonSchema): DataValidateFunction {
  const types = typesOf(schema);
  const mayBeNumber = types === undefined || takesNumbers(types);
  const allowed = comparesValues(schema) ? allowedValues(schema) : [];
  const validate: DataValidateFunction = (value: unknown): boolean => {
    validate.errors = [
      ...equalityErrors(allowed, value),
      ...(schema["uniqueItems"] === true && comparesBy(schema, "uniqueItems") ? repetitionErrors(value) : []),
      ...(mayBeNumber ? numberErrors(schema, types, value) : []),
    ];
    return validate.errors.length === 0;
  };
  return validate;
}

function numberErrors(schema: JsonSchema, types: readonly unknown[] | undefined, value: unknown): Errors {
  if (typeof value !== "string" && typeof value !== "number") return [];
  const isLong = isLongNumber(value);
  if (
    typeof value === "string" &&
    (!isLong || (types !== undefined && !types.includes("number") && hasFraction(value)))
  )
    return types === undefined || types.includes("string")
      ? []
      : [{ keyword: "type", params: { type: schema["type"] } }];
  return LIMITS.flatMap(({ keyword, holds }) => {
    const limit = schema[keyword];
    // The limits that are doubles are compared with doubles by the validator.
    const isCompared = isLong ? isExactNumber(limit) : isLongNumber(limit);
    return isCompared && !holds(value, limit as ExactNumber)
      ? [{ keyword, params: paramsOf(keyword, limit as ExactNumber) }]
      : [];
  });
}

interface AllowedValues {
  keys: ReadonlySet<string>;
  error: Errors[number];
}

const allow = (values: readonly unknown[], error: Errors[number]): AllowedValues => ({
  keys: new Set(values.map(valueKey)),
  error,
});

/** The values that `const` and `enum` allow. */
function allowedValues(schema: JsonSchema): AllowedValues[] {
  const { enum: values } = schema;
  return [
    ...(Object.hasOwn(schema, "const")
      ? [allow([schema["const"]], { keyword: "const", params: { allowedValue: schema["const"] } })]
      : []),
    ...(Array.isArray(values)
      ? [allow(values, { keyword: "enum", params: { allowedValues: values as unknown[] } })]
      : []),
  ];
}

function equalityErrors(allowed: readonly AllowedValues[], value: unknown): Errors {
  if (allowed.length === 0) return [];
  const key = valueKey(value);
  // A copy: the validator adds where the value is.
  return allowed.filter(({ keys }) => !keys.has(key)).map(({ error }) => Object.assign({}, error));
}

const repetitionErrors = (value: unknown): Errors =>
  Array.isArray(value) && new Set(value.map(valueKey)).size < value.length
    ? [{ keyword: "uniqueItems", params: {} }]
    : [];

const KEYWORD: FuncKeywordDefinition = { keyword: LONG_NUMBER_KEYWORD, compile };

const paramsOf = (keyword: string, limit: ExactNumber): Record<string, unknown> =>
  keyword === "multipleOf" ? { multipleOf: limit } : { limit };

const hasFraction = (value: string): boolean => /\.0*[1-9]/.test(value);

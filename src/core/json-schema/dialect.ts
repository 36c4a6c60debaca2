/** The part of JSON Schema (draft 2020-12) that workflows may use, and its validator. */
import { createRequire } from "node:module";
import type * as Ajv from "ajv/dist/2020.js";
import type { FormatsPlugin } from "ajv-formats";
import { RE2JS } from "re2js";
import { isMailAddress } from "../../../schemas/mail-address.ts";
import { lazy } from "../lazy.ts";
import { calculateExactly } from "../long-number-arithmetic.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The keywords by what they contain: one schema, a list of schemas, named schemas, or something else. */
const KEYWORDS_BY_KIND = {
  schema: [
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "contains",
    "unevaluatedItems",
    "not",
    "if",
    "then",
    "else",
  ],
  schemas: ["prefixItems", "allOf", "anyOf", "oneOf"],
  named: ["$defs", "properties", "patternProperties", "dependentSchemas"],
  // prettier-ignore
  value: [
    "$schema", "$ref", "$comment", "title", "description", "default", "examples", "deprecated", "readOnly",
    "writeOnly", "type", "enum", "const", "required", "dependentRequired", "minProperties", "maxProperties",
    "minContains", "maxContains", "minItems", "maxItems", "uniqueItems", "minLength", "maxLength",
    "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
  ],
} as const;
type KeywordKind = keyof typeof KEYWORDS_BY_KIND;

export const KEYWORDS: ReadonlyMap<string, KeywordKind> = new Map(
  Object.entries(KEYWORDS_BY_KIND).flatMap(([kind, words]) =>
    words.map((word) => [word, kind as KeywordKind]),
  ),
);

export const FORMATS = [
  "date",
  "time",
  "date-time",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uri",
  "uri-reference",
  "uuid",
] as const;

// Loaded with the first schema: many processes start without one.
const packages = lazy(() => {
  const require = createRequire(import.meta.url);
  return {
    ...(require("ajv/dist/2020.js") as typeof Ajv),
    // The package is CommonJS, although its types describe a module.
    addFormats: require("ajv-formats") as FormatsPlugin,
  };
});

/** Matches patterns in linear time: the pattern of a workflow must not be able to block a process. */
const linearRegExp = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    // ajv compares patterns by their text.
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => pattern };
  },
  { code: "re2js" },
);

interface DialectOptions {
  /** Fills defaults in, in the validated value itself. */
  useDefaults: boolean;
  /** Finds every error, not only the first. */
  allErrors: boolean;
}

export function newAjv({ useDefaults, allErrors }: DialectOptions): Ajv.Ajv2020 {
  const packaged = packages();
  const ajv = new packaged.Ajv2020({
    strict: false,
    validateFormats: true,
    allErrors: allErrors,
    useDefaults: useDefaults,
    verbose: true,
    ownProperties: true,
    // Whether a reference can be inlined takes ajv 2^n times as long for n lists inside each other. Only defaults depend on it:
    // they are not filled in inside `anyOf` and the like, unless in a function of their own.
    inlineRefs: useDefaults,
    // Schemas are checked by schemaIssues.
    validateSchema: false,
    logger: false,
    code: { regExp: linearRegExp },
  });
  packaged.addFormats(ajv, [...FORMATS]);
  // An input with this format can be used wherever the workflow sends mail or asks a person.
  ajv.addFormat("email", isMailAddress);
  ajv.removeKeyword("multipleOf");
  ajv.addKeyword(MULTIPLE_OF);
  return ajv;
}

const isMultiple: NonNullable<Ajv.FuncKeywordDefinition["validate"]> = (
  multipleOf: number,
  value: number,
): boolean => {
  isMultiple.errors = [{ keyword: "multipleOf", params: { multipleOf } }];
  return calculateExactly("%", value, multipleOf) === 0;
};

/** Divides the digits, as they are written: of doubles, 19.99 would be no multiple of 0.01. */
const MULTIPLE_OF: Ajv.FuncKeywordDefinition = {
  keyword: "multipleOf",
  type: "number",
  schemaType: "number",
  validate: isMultiple,
};

export type Validator = Ajv.ValidateFunction;

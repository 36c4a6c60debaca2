/** Which JSON Schema (draft 2020-12) may be written here, and the validator that knows it. */
import { createRequire } from "node:module";
import type * as Ajv from "ajv/dist/2020.js";
import type { FormatsPlugin } from "ajv-formats";
import { RE2JS } from "re2js";
import { lazy } from "../lazy.ts";

/** Written as plain JSON objects, or true and false. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The keywords by what they hold: one schema, a list of them, named ones, or something that is no schema. */
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
type Holds = keyof typeof KEYWORDS_BY_KIND;

export const KEYWORDS: ReadonlyMap<string, Holds> = new Map(
  Object.entries(KEYWORDS_BY_KIND).flatMap(([holds, words]) => words.map((word) => [word, holds as Holds])),
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

// Loaded when the first schema is read: most processes read none for long.
const packages = lazy(() => {
  const require = createRequire(import.meta.url);
  return {
    ...(require("ajv/dist/2020.js") as typeof Ajv),
    // CommonJS, though its types say otherwise.
    addFormats: require("ajv-formats") as FormatsPlugin,
  };
});

/** Patterns in linear time: those of a workflow's author must not be able to hold a process. */
const linear = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    // ajv tells patterns apart by their text.
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => pattern };
  },
  { code: "re2js" },
);

interface DialectOptions {
  /** Fills in defaults, in the value itself. */
  useDefaults: boolean;
  /** Tells every error, not only the first. */
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
    // What is a schema has been checked before.
    validateSchema: false,
    logger: false,
    code: { regExp: linear },
  });
  packaged.addFormats(ajv, [...FORMATS]);
  return ajv;
}

export type Validator = Ajv.ValidateFunction;

/** From the validator's errors to faults in the words of every other fault. */
import type { ErrorObject } from "ajv";
import type { PartialIssue } from "../connections.ts";
import { unknownKey } from "../issues.ts";
import { nearMatch } from "../near-match.ts";
import { pointerParts } from "./references.ts";

/** Faults told; errors looked at for them, as many may say the same; faults for which is looked what was meant. */
const MOST = 100;
const MOST_LOOKED_AT = 1_000;
const MOST_MEANT = 10;
/** Words that are held against the one that was written. */
const MOST_CANDIDATES = 500;

/** @param value what was validated: its lists tell which parts of a path are positions */
export function describeErrors(errors: readonly ErrorObject[], value: unknown): PartialIssue[] {
  const seen = new Set<string>();
  const issues: PartialIssue[] = [];
  for (const [index, error] of errors.entries()) {
    if (issues.length === MOST || (index >= MOST_LOOKED_AT && issues.length > 0)) break;
    // That `if` chose a branch is no fault; what is wrong in the branch is told by itself.
    if (error.keyword === "if") continue;
    const issue = describe(
      error,
      pathOf(error, value),
      issues.length < MOST_MEANT ? meantBy : () => undefined,
    );
    const key = JSON.stringify([issue.path, issue.code, issue.message]);
    if (!seen.has(key)) issues.push(issue);
    seen.add(key);
  }
  return issues;
}

type MeantBy = (word: string, allowed: readonly string[]) => string | undefined;

const meantBy: MeantBy = (word, allowed) => nearMatch(word, allowed.slice(0, MOST_CANDIDATES));

function pathOf(error: ErrorObject, value: unknown): PropertyKey[] {
  const path: PropertyKey[] = [];
  let here = value;
  for (const part of pointerParts(`#${error.instancePath}`) ?? []) {
    path.push(Array.isArray(here) ? Number(part) : part);
    here = (here as Readonly<Record<string, unknown>> | undefined)?.[part];
  }
  return path;
}

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null",
};

const kinds = (types: unknown): string =>
  [types]
    .flat()
    .map((type) => KINDS[String(type)] ?? String(type))
    .join(" or ");

const kindOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "a list" : kinds(typeof value);

function describe(error: ErrorObject, path: PropertyKey[], meant: MeantBy): PartialIssue {
  const params = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case "required":
    case "dependentRequired": {
      const name = String(params["missingProperty"]);
      const { type } = (propertiesOf(error)[name] ?? {}) as { type?: unknown };
      const fix = type === undefined ? "Give it." : `Give it: ${kinds(type)}.`;
      return { path: [...path, name], code: "missing", message: "is missing", fix };
    }
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = String(params["additionalProperty"] ?? params["unevaluatedProperty"]);
      const { path: _, ...issue } = unknownKey("", name, Object.keys(propertiesOf(error)));
      return { ...issue, path: [...path, name] };
    }
    case "type":
      return {
        path,
        code: "wrong_type",
        message: `must be ${kinds(params["type"])}, not ${kindOf(error.data)}`,
      };
    case "enum":
    case "const": {
      const values =
        error.keyword === "const" ? [params["allowedValue"]] : (params["allowedValues"] as unknown[]);
      const allowed = values.map((it) => (typeof it === "string" ? it : JSON.stringify(it)));
      const near = typeof error.data === "string" ? meant(error.data, allowed) : undefined;
      const message = `must be ${allowed.length === 1 ? "" : "one of "}${allowed.slice(0, 20).join(", ")}`;
      return {
        path,
        code: "not_allowed",
        message,
        allowed,
        ...(near !== undefined && { did_you_mean: near }),
      };
    }
    case "format":
      return { path, code: "wrong_format", message: `must be a valid ${String(params["format"])}` };
    case "pattern":
      return { path, code: "wrong_format", message: `must match ${String(params["pattern"])}` };
    case "anyOf":
    case "oneOf":
      return {
        path,
        code: "no_match",
        message: "fits none, or more than one, of the forms that are allowed",
      };
    default:
      return { path, code: CODES[error.keyword] ?? "invalid", message: error.message ?? "is not valid" };
  }
}

const CODES: Readonly<Record<string, string>> = {
  minLength: "too_short",
  minItems: "too_short",
  minProperties: "too_short",
  maxLength: "too_long",
  maxItems: "too_long",
  maxProperties: "too_long",
  minimum: "too_small",
  exclusiveMinimum: "too_small",
  maximum: "too_large",
  exclusiveMaximum: "too_large",
  multipleOf: "not_allowed",
};

/** The properties that the schema around the error names. */
const propertiesOf = (error: ErrorObject): Readonly<Record<string, unknown>> =>
  (error.parentSchema?.["properties"] ?? {}) as Readonly<Record<string, unknown>>;

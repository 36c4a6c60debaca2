/** Converts errors of the JSON Schema validator to issues, with the wording of all other issues. */
import type { ErrorObject } from "ajv";
import type { PartialIssue } from "../connections.ts";
import { HELD_EXACTLY, unknownKey } from "../issues.ts";
import { nearMatch } from "../near-match.ts";
import { isLongNumber } from "../../../schemas/long-numbers.ts";
import { mailAddressIssue } from "../../../schemas/mail-address.ts";
import { LONG_NUMBER_KEYWORD } from "./long-numbers.ts";
import { pointerParts } from "./references.ts";

/** Maximum number of issues reported for one value. */
const MAX_ISSUES = 100;
/** Maximum number of the validator's errors that are examined: several may be the same issue. */
const MAX_ERRORS = 1_000;
/** Maximum number of issues for which a near match is searched. */
const MAX_SUGGESTIONS = 10;
/** Maximum number of digits that a message shows. */
const MAX_SHOWN_DIGITS = 60;
/** Maximum number of words that are searched for each. */
const MAX_CANDIDATES = 500;

/** @param value the validated value: its lists tell which parts of a path are indexes */
export function describeErrors(errors: readonly ErrorObject[], value: unknown): PartialIssue[] {
  const reported = new Set<string>();
  const issues: PartialIssue[] = [];
  for (const [index, error] of errors.entries()) {
    if (issues.length === MAX_ISSUES || (index >= MAX_ERRORS && issues.length > 0)) break;
    // An error of `if` only says that a branch was selected. The errors of that branch follow.
    if (error.keyword === "if") continue;
    const issue = describe(
      error,
      pathOf(error, value),
      issues.length < MAX_SUGGESTIONS ? suggest : () => undefined,
    );
    const key = JSON.stringify([issue.path, issue.code, issue.message]);
    if (!reported.has(key)) issues.push(issue);
    reported.add(key);
  }
  return issues;
}

type Suggest = (word: string, allowed: readonly string[]) => string | undefined;

const suggest: Suggest = (word, allowed) => nearMatch(word, allowed.slice(0, MAX_CANDIDATES));

function pathOf(error: ErrorObject, value: unknown): PropertyKey[] {
  const path: PropertyKey[] = [];
  let current = value;
  for (const part of pointerParts(`#${error.instancePath}`) ?? []) {
    path.push(Array.isArray(current) ? Number(part) : part);
    current = (current as Readonly<Record<string, unknown>> | undefined)?.[part];
  }
  return path;
}

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  integer: "an integer",
  boolean: "a boolean",
  array: "a list",
  object: "an object",
  null: "null",
};

const kinds = (types: unknown): string =>
  [types]
    .flat()
    .map((type) => KINDS[String(type)] ?? String(type))
    .join(" or ");

/** The types of a schema as its author wrote them. */
const writtenTypes = (schema: unknown): unknown => {
  const { type, [LONG_NUMBER_KEYWORD]: written } = (schema ?? {}) as Readonly<Record<string, unknown>>;
  return written === undefined ? type : (written as { type?: unknown }).type;
};

const isNumeric = (types: unknown): boolean =>
  [types].flat().some((type) => type === "number" || type === "integer");

function received(value: unknown, expected: unknown): string {
  if (isLongNumber(value) && isNumeric(expected)) return value.slice(0, MAX_SHOWN_DIGITS);
  // "must be an integer, got a number" would not help. No other value is repeated: it may be a secret.
  if (typeof value === "number" && [expected].flat().includes("integer")) return String(value);
  return value === null ? "null" : Array.isArray(value) ? "a list" : kinds(typeof value);
}

function describe(error: ErrorObject, path: PropertyKey[], nearest: Suggest): PartialIssue {
  const params = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case "required":
    case "dependentRequired": {
      const name = String(params["missingProperty"]);
      const type = writtenTypes(propertiesOf(error)[name]);
      const fix = type === undefined ? "Add it." : `Set it to ${kinds(type)}.`;
      return { path: [...path, name], code: "missing", message: "is required", fix };
    }
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = String(params["additionalProperty"] ?? params["unevaluatedProperty"]);
      const { path: _, ...issue } = unknownKey("", name, Object.keys(propertiesOf(error)));
      return { ...issue, path: [...path, name] };
    }
    case "type": {
      const types = writtenTypes(error.parentSchema) ?? params["type"];
      // A count in a schema: the numbers of values are compared by our own keyword, whose errors have no parent.
      const held =
        error.parentSchema !== undefined && isLongNumber(error.data) && isNumeric(types) ? HELD_EXACTLY : "";
      return {
        path,
        code: "wrong_type",
        message: `must be ${kinds(types)}${held}, got ${received(error.data, types)}`,
      };
    }
    case "enum":
    case "const": {
      const values =
        error.keyword === "const" ? [params["allowedValue"]] : (params["allowedValues"] as unknown[]);
      const allowed = values.map((option) => (typeof option === "string" ? option : JSON.stringify(option)));
      const near = typeof error.data === "string" ? nearest(error.data, allowed) : undefined;
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
      return {
        path,
        code: "wrong_format",
        message: `must be a valid ${String(params["format"])}`,
        ...(params["format"] === "email" && mailAddressIssue(String(error.data))),
      };
    case "pattern":
      return { path, code: "wrong_format", message: `must match ${String(params["pattern"])}` };
    case "anyOf":
      return { path, code: "no_match", message: "must match at least one of the allowed forms" };
    case "oneOf":
      return { path, code: "no_match", message: "must match exactly one of the allowed forms" };
    case "uniqueItems":
      return { path, code: "invalid", message: "must not contain the same item twice" };
    case "multipleOf":
      return {
        path,
        code: "not_allowed",
        message: `must be a multiple of ${String(params["multipleOf"])}, got ${String(error.data)}`,
      };
    default: {
      const limit = LIMITS[error.keyword];
      if (limit === undefined) return { path, code: "invalid", message: error.message ?? "is not valid" };
      const { code, comparison, unit, size } = limit;
      // The limit of a number may be a long number.
      const bound = String(params["limit"]);
      const units = unit === "" ? "" : ` ${unit}${bound === "1" ? "" : "s"}`;
      const verb = unit === "item" || unit === "field" ? "have" : "be";
      return {
        path,
        code,
        message: `must ${verb} ${comparison} ${bound}${units}, got ${size(error.data)}`,
      };
    }
  }
}

interface Limit {
  code: string;
  comparison: string;
  unit: "" | "character" | "item" | "field";
  /** Measures the value that exceeds the limit. A long number keeps its digits. */
  size(value: unknown): number | string;
}

const characters = (value: unknown): number => Array.from(value as string).length;
const items = (value: unknown): number => (value as unknown[]).length;
const fields = (value: unknown): number => Object.keys(value as object).length;
const itself = (value: unknown): number | string => value as number | string;

const LIMITS: Readonly<Record<string, Limit>> = {
  minLength: { code: "too_short", comparison: "at least", unit: "character", size: characters },
  minItems: { code: "too_short", comparison: "at least", unit: "item", size: items },
  minProperties: { code: "too_short", comparison: "at least", unit: "field", size: fields },
  maxLength: { code: "too_long", comparison: "at most", unit: "character", size: characters },
  maxItems: { code: "too_long", comparison: "at most", unit: "item", size: items },
  maxProperties: { code: "too_long", comparison: "at most", unit: "field", size: fields },
  minimum: { code: "too_small", comparison: "at least", unit: "", size: itself },
  exclusiveMinimum: { code: "too_small", comparison: "more than", unit: "", size: itself },
  maximum: { code: "too_large", comparison: "at most", unit: "", size: itself },
  exclusiveMaximum: { code: "too_large", comparison: "less than", unit: "", size: itself },
};

/** The `properties` of the schema that the error belongs to. */
const propertiesOf = (error: ErrorObject): Readonly<Record<string, unknown>> =>
  (error.parentSchema?.["properties"] ?? {}) as Readonly<Record<string, unknown>>;

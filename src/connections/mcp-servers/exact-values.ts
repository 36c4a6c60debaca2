/** Compares the structured content of results with the schemas of their tools. */
import { isDeepStrictEqual } from "node:util";
import { newAjv, type Validator } from "../../core/json-schema/dialect.ts";
import { describeErrors } from "../../core/json-schema/errors.ts";
import { exceedsJsonSize, type JsonSchema } from "../../core/json-schema/index.ts";
import { formatPath } from "../../core/issues.ts";
import { AppError } from "../../core/errors.ts";
import { exactJsonText } from "../../core/json-text.ts";
import { compareNumbers } from "../../core/long-number-arithmetic.ts";
import { isLongNumber } from "../../../schemas/long-numbers.ts";
import { runWithTimeout } from "../models/run-with-timeout.ts";

/** Processor time of compiling a schema, or of checking a result with it, in milliseconds: servers write both. */
export const CHECK_MS = 1_000;
/** Maximum size of a schema that is compiled, in characters of JSON. */
const MAX_SCHEMA_CHARS = 256 * 1024;

/** Structured content of a result. */
interface StructuredContent {
  /** With long numbers as text. */
  exact: unknown;
  /** With the nearest doubles instead, if it also has texts that resemble long numbers. */
  rounded?: unknown;
}

/** JSON with the nearest double for each long number, and for infinity, which a parser makes of a number that is too large. */
export function nearestDoubles(value: unknown, isNumber: (value: unknown) => boolean = () => false): unknown {
  if (typeof value === "number" || isNumber(value))
    return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number(value)));
  if (Array.isArray(value)) return value.map((inner) => nearestDoubles(inner, isNumber));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, nearestDoubles(inner, isNumber)]),
  );
}

/**
 * Returns structured content with the digits of the text beside it, if both are the same JSON but for rounding: a server in JavaScript
 * rounds what it parses, and passes the text on.
 */
export function withDigitsOf(text: string, content: unknown): unknown {
  if (!/[\d.]{16}/.test(text)) return content;
  let written: unknown;
  try {
    written = JSON.parse(exactJsonText(text, () => true));
  } catch {
    return content;
  }
  const [left, right] = [written, content].map((value) => nearestDoubles(value, isLongNumber));
  return isDeepStrictEqual(left, right) ? written : content;
}

/** Returns why structured content does not match the schema of its tool; undefined if it does. It can take long. */
export type OutputCheck = (content: StructuredContent) => string | undefined;

/**
 * Compiles the schema of a tool's results. A number that a double can't hold matches as one of the doubles around it: the server has
 * compared the number itself. A schema that is too large or can't be compiled accepts everything.
 * @throws AppError busy
 */
export function outputCheck(schema: JsonSchema): OutputCheck {
  const validate = compile(schema);
  if (validate === undefined) return () => undefined;
  return ({ exact, rounded = nearestDoubles(exact, isLongNumber) }) => {
    if (validate(rounded)) return undefined;
    const [first] = describeErrors(validate.errors ?? [], rounded);
    const accepts = (side: number): boolean => validate(neighbourOf(exact, rounded, side));
    if (accepts(-1) || accepts(1)) return undefined;
    return `${formatPath(first?.path ?? []) || "it"} ${first?.message ?? "is not valid"}`;
  };
}

/** @returns undefined for a schema that can't be compiled */
function compile(schema: JsonSchema): Validator | undefined {
  if (exceedsJsonSize(schema, MAX_SCHEMA_CHARS)) return undefined;
  // Each schema gets a validator of its own: it would take another schema with the same $id for the one that it knows.
  const ajv = newAjv({ useDefaults: false, allErrors: false });
  try {
    const validate = runWithTimeout(CHECK_MS, () => ajv.compile(schema));
    // With `$async`, a keyword of the validator, it would return promises.
    return "$async" in validate ? undefined : validate;
  } catch (error) {
    if (error instanceof AppError) throw error;
    return undefined;
  }
}

/** The double below or above each long number, where the nearest one is on the other side. */
function neighbourOf(exact: unknown, rounded: unknown, side: number): unknown {
  if (typeof rounded === "number")
    return isLongNumber(exact) && compareNumbers(exact, rounded) === side ? next(rounded, side) : rounded;
  if (typeof rounded !== "object" || rounded === null) return rounded;
  const inner = exact as Readonly<Record<string, unknown>>;
  const entries = Object.entries(rounded).map(([key, value]: [string, unknown]) => [
    key,
    neighbourOf(inner[key], value, side),
  ]);
  return Array.isArray(rounded) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}

/** The next double in a direction. */
function next(value: number, side: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const away = Math.sign(value) === side ? 1n : -1n;
  view.setBigInt64(0, view.getBigInt64(0) + away);
  const found = view.getFloat64(0);
  return Number.isFinite(found) ? found : value;
}

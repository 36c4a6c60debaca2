/** The values of the language: those of JSON, timestamps (Date) and durations. Inherited fields do not exist. */
import { canonicalDigits, compareNumbers, isLargeInteger } from "../../../core/long-number-arithmetic.ts";
import type { ExactNumber } from "../../../core/long-number-arithmetic.ts";
import { isLongNumber, MAX_LONG_NUMBER_CHARS, readNumber } from "../../../../schemas/long-numbers.ts";
import { MAX_EXPRESSION_VALUE_DEPTH } from "./limits.ts";
import { compareTimes, Duration, type ExactTime, exactTime, secondsText, timeKey } from "./exact-times.ts";
import { type LocalTime, readTime } from "./read-time.ts";
import { throwFailed } from "./failures.ts";
import type { SourceLocation } from "./cel-parser.ts";
import { charge, chargeComparison, chargeText, limitExceeded } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";

export type Kind = "null" | "boolean" | "number" | "string" | "list" | "map" | "timestamp" | "duration";

export { Duration };

export function kindOf(value: unknown): Kind {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
      return typeof value as Kind;
    default:
      if (value === null || value === undefined) return "null";
      if (Array.isArray(value)) return "list";
      if (value instanceof Date) return "timestamp";
      return value instanceof Duration ? "duration" : "map";
  }
}

const KIND_NAMES: Readonly<Record<Kind, string>> = {
  null: "null",
  boolean: "a boolean",
  number: "a number",
  string: "text",
  list: "a list",
  map: "an object",
  timestamp: "a timestamp",
  duration: "a duration",
};
export const describeKind = (kind: Kind): string => KIND_NAMES[kind];
export const describeKinds = (kinds: readonly Kind[]): string => kinds.map(describeKind).join(" or ");

export type Fields = Readonly<Record<string, unknown>>;

/** Marks an object whose other fields are null: the output of a step that did not run, when its names are not known. */
export const OTHER_FIELDS_NULL = Symbol("other fields are null");

/** Sets an own field, whatever its name: a plain assignment to `__proto__` would change the prototype. */
export function setField(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") target[name] = value;
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Work of listing one field of an object. V8 keeps those of a large one in a hash table, and sorts them. */
const FIELD_COST = 3;
const LARGE_FIELD_COST = 20;
const LARGE_OBJECT = 500;

/** Lists the field names of an object and charges for it. */
export function fieldNames(evaluation: Evaluation, map: Fields): string[] {
  const names = Object.keys(map);
  charge(evaluation, names.length * (names.length > LARGE_OBJECT ? LARGE_FIELD_COST : FIELD_COST));
  return names;
}

function checkDepth(evaluation: Evaluation, depth: number): void {
  if (depth <= MAX_EXPRESSION_VALUE_DEPTH) return;
  throw limitExceeded(
    evaluation,
    `contains a value nested deeper than ${MAX_EXPRESSION_VALUE_DEPTH} levels`,
    "depth",
    MAX_EXPRESSION_VALUE_DEPTH,
  );
}

/** Compares by CEL's equality: values of different kinds are not equal. A long number equals the same number in any spelling. */
export function equals(evaluation: Evaluation, a: unknown, b: unknown, depth = 0): boolean {
  if (typeof a === "string" && typeof b === "string" && a.length === b.length)
    chargeComparison(evaluation, a.length);
  if (a === b) return true;
  if (
    (typeof a === "string" || typeof b === "string") &&
    isNumber(evaluation, a) &&
    isNumber(evaluation, b)
  ) {
    chargeDigits(evaluation, a, b);
    return compareNumbers(a, b) === 0;
  }
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return false;
  if (kind === "null") return true;
  if (kind === "timestamp" || kind === "duration")
    return compareTimes(exactTime(a as Date), exactTime(b as Date)) === 0;
  if (kind !== "list" && kind !== "map") return false;
  checkDepth(evaluation, depth);
  charge(evaluation, 2);
  if (kind === "list") {
    const [left, right] = [a as unknown[], b as unknown[]];
    charge(evaluation, left.length);
    return (
      left.length === right.length &&
      left.every((item, index) => equals(evaluation, item, right[index], depth + 1))
    );
  }
  const [left, right] = [a as Fields, b as Fields];
  const names = fieldNames(evaluation, left);
  return (
    names.length === fieldNames(evaluation, right).length &&
    names.every(
      (name) => Object.hasOwn(right, name) && equals(evaluation, left[name], right[name], depth + 1),
    )
  );
}

/** Kinds whose values have an order, and texts that are moments. */
type Order = "boolean" | "number" | "string" | "timestamp" | "duration" | "moment";

const ORDERED: ReadonlySet<Kind> = new Set<Order & Kind>([
  "boolean",
  "number",
  "string",
  "timestamp",
  "duration",
]);

/**
 * Returns the order of values: that of numbers if each of them is a number or a long number, that of moments if each is the text of
 * one, otherwise that of their common kind. All values of a list count, so that two of them have one order whatever stands beside
 * them.
 * @returns undefined if the values have no common order
 */
export function orderOf(evaluation: Evaluation, values: readonly unknown[]): Order | undefined {
  if (values.every((value) => isNumber(evaluation, value))) return "number";
  const kind = kindOf(values[0]);
  if (!ORDERED.has(kind) || values.some((value) => kindOf(value) !== kind)) return undefined;
  if (kind !== "string") return kind as Order;
  return values.every((value) => isMoment(evaluation, value as string)) ? "moment" : "string";
}

/** Orders two values. @param order as `orderOf` returns it for them */
export function compare(evaluation: Evaluation, order: Order, a: unknown, b: unknown): number {
  if (order === "timestamp") return compareTimes(exactTime(a as Date), exactTime(b as Date));
  if (order === "duration") return compareTimes(a as Duration, b as Duration);
  if (order === "moment") return compareMoments(evaluation, a as string, b as string);
  if (order === "number" && (typeof a === "string" || typeof b === "string")) {
    chargeDigits(evaluation, a, b);
    return compareNumbers(a as ExactNumber, b as ExactNumber);
  }
  const [left, right] = [a as string, b as string];
  if (order === "string") chargeComparison(evaluation, Math.min(left.length, right.length));
  return left < right ? -1 : Number(left > right);
}

/** Length of the shortest long number, and of the shortest text of a moment, in characters. */
const MIN_LONG_CHARS = 16;

/** Whether a value counts as a number. */
export function isNumber(evaluation: Evaluation, value: unknown): value is ExactNumber {
  if (typeof value !== "string") return typeof value === "number";
  if (value.length < MIN_LONG_CHARS) return false;
  chargeText(evaluation, Math.min(value.length, MAX_LONG_NUMBER_CHARS));
  return isLongNumber(value);
}

const MAX_MOMENT_CHARS = 40;
const MOMENT_COST = 20;

/** Whether a text is a date and a time with an offset, as databases and JSON write a moment. */
function isMoment(evaluation: Evaluation, text: string): boolean {
  if (text.length < MIN_LONG_CHARS || text.length > MAX_MOMENT_CHARS || text[4] !== "-") return false;
  charge(evaluation, MOMENT_COST);
  const time = readTime(text);
  return !("reason" in time) && time.offset !== undefined;
}

function compareMoments(evaluation: Evaluation, a: string, b: string): number {
  charge(evaluation, 2 * TIMESTAMP_COST);
  return compareTimes(momentOf(a), momentOf(b));
}

/** The time in UTC of a text that is a moment. */
function momentOf(text: string): ExactTime {
  const { ms, nanos, offset = 0 } = readTime(text) as LocalTime;
  return { ms: ms - offset, nanos };
}

/** Work of reading a long number, and each of its digits. */
const LONG_NUMBER_COST = 40;
const DIGIT_COST = 2;

/** Charges for reading numbers of which one is long at least. */
export function chargeDigits(evaluation: Evaluation, ...values: unknown[]): void {
  const digits = values.reduce<number>(
    (sum, value) => sum + (typeof value === "string" ? value.length : 0),
    0,
  );
  charge(evaluation, LONG_NUMBER_COST * values.length + DIGIT_COST * digits);
}

/** Work of writing a value, and the name of a field, into a key. */
const KEY_COST = 25;
const KEY_NAME_COST = 25;

/** Returns a text that two values share if and only if they are equal. */
export function identityKey(evaluation: Evaluation, value: unknown, depth = 0): string {
  checkDepth(evaluation, depth);
  charge(evaluation, KEY_COST);
  switch (kindOf(value)) {
    case "string":
      if (isNumber(evaluation, value)) return numberKey(evaluation, value);
      chargeText(evaluation, (value as string).length);
      return JSON.stringify(value);
    case "number":
      return isLargeInteger(value) ? numberKey(evaluation, value) : String(value === 0 ? 0 : value);
    case "list":
      return joinKeys(
        evaluation,
        (value as unknown[]).map((item) => identityKey(evaluation, item, depth + 1)),
      );
    case "map": {
      const fields = value as Fields;
      const names = fieldNames(evaluation, fields).toSorted();
      charge(evaluation, KEY_NAME_COST * names.length);
      const parts = names.map(
        (name) => `${JSON.stringify(name)}:${identityKey(evaluation, fields[name], depth + 1)}`,
      );
      return `{${joinKeys(evaluation, parts)}}`;
    }
    case "timestamp":
      return `t${timeKey(exactTime(value as Date))}`;
    case "duration":
      return `d${timeKey(value as Duration)}`;
    default:
      return String(value);
  }
}

/** The key of a number that may be written as a long number too. */
function numberKey(evaluation: Evaluation, value: ExactNumber): string {
  chargeDigits(evaluation, value);
  return canonicalDigits(value);
}

/** Joins keys, and charges for the text: each level of a value copies the text of all levels below it. */
function joinKeys(evaluation: Evaluation, parts: readonly string[]): string {
  const text = `[${parts.join()}]`;
  charge(evaluation, text.length / 4);
  return text;
}

/**
 * Returns the number if JSON can hold it.
 * @throws StepError expression_failed
 */
export function assertFinite(place: SourceLocation, value: number): number {
  if (Number.isFinite(value)) return value;
  return throwFailed(place, Number.isNaN(value) ? "results in NaN" : "results in a number that is too large");
}

/**
 * Returns the result of exact arithmetic.
 * @param value undefined if it has too many digits
 * @throws StepError expression_failed
 */
export const assertWritable = (place: SourceLocation, value: ExactNumber | undefined): ExactNumber =>
  value ??
  throwFailed(
    place,
    `results in a number of more than ${MAX_LONG_NUMBER_CHARS.toLocaleString("en-US")} digits`,
  );

/** Converts a value to the key of a JSON object; undefined if it can't be one. */
export function mapKey(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean"
    ? String(value === 0 ? 0 : value)
    : undefined;
}

/** Work of converting a value, one with a fraction, a timestamp, and a field: they are written to measure them. */
const VALUE_COST = 2;
const FRACTION_COST = 20;
const TIMESTAMP_COST = 50;
const FIELD_VALUE_COST = 2;

/**
 * Converts a value to plain JSON: timestamps become ISO text, durations a number of seconds. A value that is plain
 * already is returned itself, not copied.
 * @throws StepError expression_limit if it is nested too deep or larger than the evaluation may return
 */
export function toJson(evaluation: Evaluation, value: unknown, depth = 0): unknown {
  switch (kindOf(value)) {
    case "string":
      chargeOutput(evaluation, jsonLength(evaluation, value as string));
      return value;
    case "number":
      if (!Number.isInteger(value)) charge(evaluation, FRACTION_COST);
      chargeOutput(evaluation, String(value).length);
      return value === 0 ? 0 : value;
    case "list":
      return listToJson(evaluation, value as unknown[], depth);
    case "map":
      return mapToJson(evaluation, value as Fields, depth);
    case "timestamp":
      return toJson(evaluation, timeText(evaluation, value as Date));
    case "duration":
      return toJson(evaluation, readNumber(secondsText(value as Duration)));
    default:
      chargeOutput(evaluation, 4);
      return value ?? null;
  }
}

function listToJson(evaluation: Evaluation, list: unknown[], depth: number): unknown[] {
  checkDepth(evaluation, depth);
  charge(evaluation, VALUE_COST * list.length);
  chargeOutput(evaluation, 2 + Math.max(0, list.length - 1));
  let copy: unknown[] | undefined;
  list.forEach((item, index) => {
    const plain = toJson(evaluation, item, depth + 1);
    if (!Object.is(plain, item)) (copy ??= [...list])[index] = plain;
  });
  return copy ?? list;
}

function mapToJson(evaluation: Evaluation, map: Fields, depth: number): Fields {
  checkDepth(evaluation, depth);
  const names = fieldNames(evaluation, map);
  charge(evaluation, FIELD_VALUE_COST * names.length);
  chargeOutput(evaluation, 2 + Math.max(0, names.length - 1));
  let copy: Record<string, unknown> | undefined;
  for (const name of names) {
    chargeOutput(evaluation, jsonLength(evaluation, name) + 1);
    const plain = toJson(evaluation, map[name], depth + 1);
    if (!Object.is(plain, map[name])) setField((copy ??= copyOf(map)), name, plain);
  }
  return copy ?? map;
}

function copyOf(map: Fields): Record<string, unknown> {
  const copy = {};
  for (const name of Object.keys(map)) setField(copy, name, map[name]);
  return copy;
}

const NEEDS_NO_ESCAPE = /^[ !#-[\]-~]*$/;

/** Formats a timestamp as ISO 8601 in UTC with milliseconds, and with the digits after them if it has any. */
function timeText(evaluation: Evaluation, time: Date): string {
  charge(evaluation, TIMESTAMP_COST);
  return time.toISOString();
}

/** Work of reading a character, and of writing one of a text that has others than plain ones. */
const PLAIN_COST = 1 / 16;
const ESCAPE_COST = 2;

/** Length of a string as JSON, in bytes of UTF-8. */
function jsonLength(evaluation: Evaluation, text: string): number {
  if (text.length >= 32) charge(evaluation, PLAIN_COST * text.length);
  if (NEEDS_NO_ESCAPE.test(text)) return text.length + 2;
  charge(evaluation, ESCAPE_COST * text.length);
  return Buffer.byteLength(JSON.stringify(text));
}

function chargeOutput(evaluation: Evaluation, bytes: number): void {
  evaluation.remainingOutputBytes -= bytes;
  if (evaluation.remainingOutputBytes >= 0) return;
  const limit = `${evaluation.maxOutputBytes.toLocaleString("en-US")} bytes of JSON`;
  throw limitExceeded(evaluation, `returns more than ${limit}`, "output", evaluation.maxOutputBytes);
}

/** Work of writing JSON, apart from its length. */
const WRITE_COST = 15;

/** Writes a value as JSON text. Its size is limited like that of the output, but does not count towards it. */
export function jsonText(evaluation: Evaluation, value: unknown): string {
  const remaining = evaluation.remainingOutputBytes;
  evaluation.remainingOutputBytes = evaluation.maxOutputBytes;
  charge(evaluation, WRITE_COST);
  const text = JSON.stringify(toJson(evaluation, value));
  evaluation.remainingOutputBytes = remaining;
  chargeText(evaluation, text.length);
  return text;
}

/** Writes a value inside a longer text: null as nothing, objects and lists as JSON. */
export function formatAsText(evaluation: Evaluation, value: unknown): string {
  switch (kindOf(value)) {
    case "string":
      return value as string;
    case "null":
      return "";
    case "timestamp":
      return timeText(evaluation, value as Date);
    default:
      return jsonText(evaluation, value);
  }
}

/** The values of the language: those of JSON, timestamps (Date) and durations. Only own fields of objects exist. */
import { MAX_EXPRESSION_VALUE_DEPTH } from "./limits.ts";
import { throwFailed } from "./failures.ts";
import type { SourceLocation } from "./cel-parser.ts";
import { charge, chargeComparison, chargeText, limitExceeded } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";

export type Kind = "null" | "boolean" | "number" | "string" | "list" | "map" | "timestamp" | "duration";

/** A span of time. A class only so that it can be told from an object of JSON. */
export class Duration {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
}

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

const WORDS: Readonly<Record<Kind, string>> = {
  null: "null",
  boolean: "true or false",
  number: "a number",
  string: "text",
  list: "a list",
  map: "an object",
  timestamp: "a timestamp",
  duration: "a duration",
};
export const describeKind = (kind: Kind): string => WORDS[kind];

export type Fields = Readonly<Record<string, unknown>>;

/** Sets an own field, whatever its name: a plain assignment to `__proto__` would change the prototype. */
export function setField(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") target[name] = value;
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

/** The names of an object's fields, counted: to list them takes as long as there are many. */
export function fieldNames(run: Evaluation, map: Fields): string[] {
  const names = Object.keys(map);
  charge(run, names.length);
  return names;
}

function checkDepth(run: Evaluation, depth: number): void {
  if (depth <= MAX_EXPRESSION_VALUE_DEPTH) return;
  throw limitExceeded(
    run,
    `meets a value nested deeper than ${MAX_EXPRESSION_VALUE_DEPTH} levels`,
    "depth",
    MAX_EXPRESSION_VALUE_DEPTH,
  );
}

/** CEL's equality: values of different kinds are not equal; numbers are all of one kind. */
export function equals(run: Evaluation, a: unknown, b: unknown, depth = 0): boolean {
  if (typeof a === "string" && typeof b === "string" && a.length === b.length)
    chargeComparison(run, a.length);
  if (a === b) return true;
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return false;
  if (kind === "null") return true;
  if (kind === "timestamp") return (a as Date).getTime() === (b as Date).getTime();
  if (kind === "duration") return (a as Duration).ms === (b as Duration).ms;
  if (kind !== "list" && kind !== "map") return false;
  checkDepth(run, depth);
  charge(run, 1);
  if (kind === "list") {
    const [left, right] = [a as unknown[], b as unknown[]];
    charge(run, left.length);
    return (
      left.length === right.length && left.every((item, index) => equals(run, item, right[index], depth + 1))
    );
  }
  const [left, right] = [a as Fields, b as Fields];
  const names = Object.keys(left);
  const others = Object.keys(right).length;
  charge(run, names.length + others);
  return (
    names.length === others &&
    names.every((name) => Object.hasOwn(right, name) && equals(run, left[name], right[name], depth + 1))
  );
}

/** The order of two values of one kind; undefined where the kind has none. */
export function compare(run: Evaluation, a: unknown, b: unknown): number | undefined {
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return undefined;
  if (kind === "timestamp") return (a as Date).getTime() - (b as Date).getTime();
  if (kind === "duration") return (a as Duration).ms - (b as Duration).ms;
  if (kind !== "string" && kind !== "number" && kind !== "boolean") return undefined;
  const [left, right] = [a as string, b as string];
  if (kind === "string") chargeComparison(run, Math.min(left.length, right.length));
  return left < right ? -1 : Number(left > right);
}

/** A text that two values share where they are equal, and only then. */
export function identityKey(run: Evaluation, value: unknown, depth = 0): string {
  checkDepth(run, depth);
  charge(run, 1);
  switch (kindOf(value)) {
    case "string":
      chargeText(run, (value as string).length);
      return JSON.stringify(value);
    case "list":
      return joined(
        run,
        (value as unknown[]).map((item) => identityKey(run, item, depth + 1)),
      );
    case "map": {
      const fields = value as Fields;
      const names = Object.keys(fields).toSorted();
      charge(run, names.length);
      const parts = names.map(
        (name) => `${JSON.stringify(name)}:${identityKey(run, fields[name], depth + 1)}`,
      );
      return `{${joined(run, parts)}}`;
    }
    case "timestamp":
      return `t${(value as Date).getTime()}`;
    case "duration":
      return `d${(value as Duration).ms}`;
    default:
      return String(value === 0 ? 0 : value);
  }
}

/** Each level of a value makes the text of all below it anew. */
function joined(run: Evaluation, parts: readonly string[]): string {
  const text = `[${parts.join()}]`;
  charge(run, text.length / 4);
  return text;
}

/**
 * A number that JSON can hold.
 * @throws StepError expression_failed
 */
export function assertFinite(place: SourceLocation, value: number): number {
  if (Number.isFinite(value)) return value;
  return throwFailed(place, Number.isNaN(value) ? "gives no number" : "gives a number that is too large");
}

/** The key of a map as JSON has it: text. */
export function mapKey(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean"
    ? String(value === 0 ? 0 : value)
    : undefined;
}

/** A timestamp as text: UTC with milliseconds, as every time that Millrace gives. */
const timeText = (time: Date): string => time.toISOString();

/**
 * A value as plain JSON: timestamps become ISO text, durations a number of seconds. What is plain already is given as
 * it is, not copied.
 * @throws StepError expression_limit where it is larger than the run may give out, or too deep
 */
export function toJson(run: Evaluation, value: unknown, depth = 0): unknown {
  switch (kindOf(value)) {
    case "string":
      spend(run, jsonLength(value as string));
      return value;
    case "number":
      spend(run, String(value).length);
      return value === 0 ? 0 : value;
    case "list":
      return listToJson(run, value as unknown[], depth);
    case "map":
      return mapToJson(run, value as Fields, depth);
    case "timestamp":
      return toJson(run, timeText(value as Date));
    case "duration":
      return toJson(run, (value as Duration).ms / 1_000);
    default:
      spend(run, 4);
      return value ?? null;
  }
}

function listToJson(run: Evaluation, list: unknown[], depth: number): unknown[] {
  checkDepth(run, depth);
  charge(run, list.length);
  spend(run, 2 + Math.max(0, list.length - 1));
  let copy: unknown[] | undefined;
  list.forEach((item, index) => {
    const plain = toJson(run, item, depth + 1);
    if (!Object.is(plain, item)) (copy ??= [...list])[index] = plain;
  });
  return copy ?? list;
}

function mapToJson(run: Evaluation, map: Fields, depth: number): Fields {
  checkDepth(run, depth);
  const names = Object.keys(map);
  charge(run, names.length);
  spend(run, 2 + Math.max(0, names.length - 1));
  let copy: Record<string, unknown> | undefined;
  for (const name of names) {
    spend(run, jsonLength(name) + 1);
    const plain = toJson(run, map[name], depth + 1);
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

/** Bytes of a text as JSON in UTF-8. */
function jsonLength(text: string): number {
  return NEEDS_NO_ESCAPE.test(text) ? text.length + 2 : Buffer.byteLength(JSON.stringify(text));
}

function spend(run: Evaluation, bytes: number): void {
  run.remainingOutputBytes -= bytes;
  if (run.remainingOutputBytes >= 0) return;
  const most = `${run.maxOutputBytes.toLocaleString("en-US")} bytes of JSON`;
  throw limitExceeded(run, `gives more than ${most}`, "output", run.maxOutputBytes);
}

/** A value as JSON text on the way: bounded like what comes out, but not yet out. */
export function jsonText(run: Evaluation, value: unknown): string {
  const left = run.remainingOutputBytes;
  run.remainingOutputBytes = run.maxOutputBytes;
  const text = JSON.stringify(toJson(run, value));
  run.remainingOutputBytes = left;
  chargeText(run, text.length);
  return text;
}

/** A value inside a longer text: null as nothing, objects and lists as JSON. */
export function formatAsText(run: Evaluation, value: unknown): string {
  switch (kindOf(value)) {
    case "string":
      return value as string;
    case "null":
      return "";
    case "timestamp":
      return timeText(value as Date);
    default:
      return jsonText(run, value);
  }
}

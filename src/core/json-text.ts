/**
 * What JSON text says and `JSON.parse` loses: a key that occurs twice, an integer with more digits than a number holds, and
 * a number that is too large for any.
 */
import type { Issue } from "../../schemas/problem.ts";
import { formatPath } from "./issues.ts";
import { isNestedDeeper } from "./json-nesting.ts";

/** Maximum number of losses reported for one text. */
const MAX_LOSSES = 100;

export interface JsonLoss {
  kind: "duplicate_key" | "inexact_integer" | "not_finite";
  path: readonly PropertyKey[];
  /** The key, or the number as it is written. */
  text: string;
  /** Offset in the text, in UTF-16 code units. */
  offset: number;
}

const INTEGER = /^-?\d+$/;
/** What a text without losses of numbers never contains. */
const LONG_NUMBER = /\d{16}|[eE]\+?\d{3}/;

/** Whether a number is written again as it was written, or has exactly that value. */
function isExactInteger(source: string): boolean {
  const value = Number(source);
  if (Number.isSafeInteger(value) || String(value) === source) return true;
  return Number.isFinite(value) && BigInt(source) === BigInt(value);
}

/** An object or a list around the current position, with the key or the index of its current value. */
interface Frame {
  isList: boolean;
  index: number;
  /** Undefined before the first key of an object. */
  key: string | undefined;
  isKeyNext: boolean;
  /** The keys of an object that has more than one: most of many objects have few. */
  keys: Set<string> | undefined;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** Length of the shortest number without an exponent that can be a loss, in characters. */
const LONG_NUMBER_CHARS = 16;

/**
 * Finds the losses of a text, in one pass that looks closer only at keys and at long numbers.
 * @param text valid JSON
 * @param only the one kind to find; default: all
 */
export function findJsonLosses(text: string, only?: JsonLoss["kind"]): JsonLoss[] {
  const losses: JsonLoss[] = [];
  const frames: Frame[] = [];
  let frame: Frame | undefined;
  const path = (): PropertyKey[] => frames.map(({ isList, index, key }) => (isList ? index : key!));
  const add = (kind: JsonLoss["kind"] | undefined, source: string, offset: number): void => {
    if (kind !== undefined && (only ?? kind) === kind)
      losses.push({ kind, path: path(), text: source, offset });
  };
  for (let at = 0; at < text.length && losses.length < MAX_LOSSES; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (frame?.isKeyNext === true && takeKey(frame, text.slice(at, end + 1)))
        add("duplicate_key", frame.key!, at);
      at = end;
    } else if (code === OPENING_BRACE || code === OPENING_BRACKET) {
      const isList = code === OPENING_BRACKET;
      frame = { isList, index: 0, key: undefined, isKeyNext: !isList, keys: undefined };
      frames.push(frame);
    } else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) {
      frames.pop();
      frame = frames.at(-1);
    } else if (code === COMMA && frame !== undefined) {
      if (frame.isList) frame.index += 1;
      else frame.isKeyNext = true;
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const { end, hasExponent } = endOfNumber(text, at);
      if (end - at >= LONG_NUMBER_CHARS || hasExponent) {
        const source = text.slice(at, end);
        add(numberLoss(source), source, at);
      }
      at = end - 1;
    }
  }
  return losses;
}

/** Takes the next key of an object. @param raw with its quotes @returns whether the object has it already */
function takeKey(frame: Frame, raw: string): boolean {
  const previous = frame.key;
  const key = raw.includes("\\") ? (JSON.parse(raw) as string) : raw.slice(1, -1);
  frame.key = key;
  frame.isKeyNext = false;
  if (previous === undefined) return false;
  frame.keys ??= new Set([previous]);
  const isRepeated = frame.keys.has(key);
  frame.keys.add(key);
  return isRepeated;
}

/** Returns the offset behind a number, and whether it has an exponent. */
function endOfNumber(text: string, start: number): { end: number; hasExponent: boolean } {
  let hasExponent = false;
  for (let end = start + 1; ; end += 1) {
    const code = text.charCodeAt(end);
    // e and E
    if (code === 0x65 || code === 0x45) hasExponent = true;
    // Digits, . + and -; at the end of the text the code is NaN.
    else if (!(code >= ZERO && code <= NINE) && code !== 0x2e && code !== 0x2b && code !== MINUS)
      return { end, hasExponent };
  }
}

/** @param source a number as JSON or YAML writes it */
export function numberLoss(source: string): "inexact_integer" | "not_finite" | undefined {
  if (INTEGER.test(source)) return isExactInteger(source) ? undefined : "inexact_integer";
  return Number.isFinite(Number(source)) ? undefined : "not_finite";
}

/** Returns the offset of the quote that ends a string. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return end;
  }
}

const SHOWN_DIGITS = 60;

/** Describes a loss to the author of the text. */
export function describeLoss({ kind, text }: Pick<JsonLoss, "kind" | "text">): {
  code: string;
  message: string;
  fix: string;
} {
  if (kind === "duplicate_key")
    return {
      code: kind,
      message: "occurs twice in the same object, so one of the values would be lost",
      fix: "Keep one of them.",
    };
  const shown = text.length > SHOWN_DIGITS ? `${text.slice(0, SHOWN_DIGITS)}…` : text;
  if (kind === "not_finite")
    return {
      code: kind,
      message: `must be a number up to 1.8e308, got ${shown}`,
      fix: `Write a smaller number, or text: "${shown}".`,
    };
  return {
    code: kind,
    message: `must be an integer that a number can hold, up to ${Number.MAX_SAFE_INTEGER}, got ${shown}`,
    fix: `Write it as text: "${shown}".`,
  };
}

/** Finds the losses of a text as issues, with their paths. */
export const jsonLossIssues = (text: string): Issue[] =>
  findJsonLosses(text).map((loss): Issue =>
    Object.assign({ path: formatPath(loss.path) }, describeLoss(loss)),
  );

/** A number in JSON that is too large. */
export class NumberTooLargeError extends Error {
  /** Where the number is, such as `rows[0].n`. */
  readonly path: string;

  constructor(path: string) {
    super(`The number at ${path || "the top"} is too large.`);
    this.path = path;
  }
}

/** JSON that is nested too deep. */
export class JsonTooDeepError extends Error {
  constructor(maxDepth: number) {
    super(`The JSON is nested deeper than ${maxDepth} levels.`);
  }
}

/**
 * Parses JSON of another system. An integer beyond ±(2^53 − 1) becomes text with its digits, whatever their number, so that
 * ids of one field have one type.
 * @param maxDepth maximum nesting, in levels
 * @throws SyntaxError for invalid JSON; JsonTooDeepError, NumberTooLargeError
 */
export function parseExactJson(text: string, maxDepth: number): unknown {
  if (isNestedDeeper(text, maxDepth)) throw new JsonTooDeepError(maxDepth);
  const value: unknown = JSON.parse(text);
  if (!LONG_NUMBER.test(text)) return value;
  const [tooLarge] = findJsonLosses(text, "not_finite");
  if (tooLarge !== undefined) throw new NumberTooLargeError(formatPath(tooLarge.path));
  return JSON.parse(text, textOfLongInteger as Parameters<typeof JSON.parse>[1]);
}

function textOfLongInteger(_key: string, value: unknown, { source }: { source?: string }): unknown {
  const isLong = typeof value === "number" && !Number.isSafeInteger(value) && INTEGER.test(source ?? "");
  return isLong ? source : value;
}

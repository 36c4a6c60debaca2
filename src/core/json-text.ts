/**
 * Reads JSON text without losing what it says: a number that a double can't hold becomes a long number (`long-numbers.ts`). What
 * no value can hold is reported: a key that occurs twice, and a number that is too long.
 */
import type { Issue } from "../../schemas/problem.ts";
import { formatPath } from "./issues.ts";
import { isNestedDeeper } from "./json-nesting.ts";
import { MAX_LONG_NUMBER_CHARS, readNumber } from "../../schemas/long-numbers.ts";

/** Maximum number of losses reported for one text. */
const MAX_LOSSES = 100;
/** Number of characters by which a text may grow beyond its own length: five characters (`1e990`) can write a thousand digits. */
const MAX_ADDED_CHARS = 64 * 1024;
/** Maximum length of the part of a path that decides whether a number is read. */
const MAX_DECISIVE_PARTS = 3;

export interface JsonLoss {
  /**
   * `not_finite`: a number that is too long for a long number; in YAML also infinity, and what is no number. `too_expanded`: a
   * number whose digits would make the text more than twice as long, together with those before it.
   */
  kind: "duplicate_key" | "not_finite" | "too_expanded";
  path: readonly PropertyKey[];
  /** The key, or the number as it is written. */
  text: string;
  /** Offset in the text, in UTF-16 code units. */
  offset: number;
}

/** Every text with long numbers contains this: many digits in a row, with or without a point, or a large exponent. */
const LONG_NUMBER = /\d[\d.]{15}|[eE][+-]?\d{3}/;

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
/** Length of the shortest long number without an exponent, in characters. */
const LONG_NUMBER_CHARS = 16;

interface ScanOptions {
  /** Whether keys that occur twice are losses. */
  keys: boolean;
  /** Whether the long numbers of a place are found; default: all. It gets the first parts of a path (`MAX_DECISIVE_PARTS`). */
  isRead?: (path: readonly PropertyKey[]) => boolean;
}

export interface JsonScan {
  losses: JsonLoss[];
  /** The same JSON with each long number as text, in its place; the text itself if there is none. */
  exact: string;
}

/**
 * Finds the losses and the long numbers of a text, in one pass that looks closer only at keys and at long numbers.
 * @param text valid JSON
 */
export function scanJson(text: string, { keys, isRead }: ScanOptions): JsonScan {
  const losses: JsonLoss[] = [];
  /** The text up to `copied`, with long numbers as text. */
  let exact = "";
  let copied = 0;
  const frames: Frame[] = [];
  let frame: Frame | undefined;
  let added = 0;
  const path = (end?: number): PropertyKey[] =>
    frames.slice(0, end).map(({ isList, index, key }) => (isList ? index : key!));
  const add = (kind: JsonLoss["kind"], source: string, offset: number): void => {
    if (losses.length < MAX_LOSSES) losses.push({ kind, path: path(), text: source, offset });
  };
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (frame?.isKeyNext === true && takeKey(frame, text.slice(at, end + 1), keys))
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
      if (
        (end - at >= LONG_NUMBER_CHARS || hasExponent) &&
        (isRead === undefined || isRead(path(MAX_DECISIVE_PARTS)))
      ) {
        const source = text.slice(at, end);
        const number = readNumber(source);
        const growth = typeof number === "string" ? number.length + 2 - source.length : 0;
        if (number === undefined) add("not_finite", source, at);
        else if (added + growth > text.length + MAX_ADDED_CHARS) add("too_expanded", source, at);
        else if (typeof number === "string") {
          added += growth;
          exact += `${text.slice(copied, at)}"${number}"`;
          copied = end;
        }
      }
      at = end - 1;
    }
  }
  return { losses, exact: copied === 0 ? text : exact + text.slice(copied) };
}

/** Finds the losses of a text. @param text valid JSON */
export const findJsonLosses = (text: string): JsonLoss[] => scanJson(text, { keys: true }).losses;

/**
 * Takes the next key of an object.
 * @param raw with its quotes
 * @param compares whether it is compared with the keys before it
 * @returns whether the object has it already
 */
function takeKey(frame: Frame, raw: string, compares: boolean): boolean {
  const previous = frame.key;
  const key = raw.includes("\\") ? (JSON.parse(raw) as string) : raw.slice(1, -1);
  frame.key = key;
  frame.isKeyNext = false;
  if (previous === undefined || !compares) return false;
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
  if (kind === "too_expanded")
    return {
      code: "not_finite",
      message: `must be written with fewer digits: those of all numbers make the text too large, got ${shown}`,
      fix: `Write fewer numbers with large exponents, or text: "${shown}".`,
    };
  return {
    code: kind,
    message: `must be a number with at most ${MAX_LONG_NUMBER_CHARS} digits, got ${shown}`,
    fix: `Write a shorter number, or text: "${shown}".`,
  };
}

/** Describes losses as issues, with their paths. */
export const lossIssues = (losses: readonly JsonLoss[]): Issue[] =>
  losses.map((loss): Issue => Object.assign({ path: formatPath(loss.path) }, describeLoss(loss)));

/**
 * Parses JSON that a person wrote: long numbers are text with their digits.
 * @returns the value, and what it does not hold as it is written
 * @throws SyntaxError for invalid JSON
 */
export function readJson(text: string): { value: unknown; issues: Issue[] } {
  const value: unknown = JSON.parse(text);
  const { losses, exact } = scanJson(text, { keys: true });
  return { value: exact === text ? value : JSON.parse(exact), issues: lossIssues(losses) };
}

/** A number in JSON that is too long. */
export class NumberTooLargeError extends Error {
  /** Where the number is, such as `rows[0].n`. */
  readonly path: string;
  /** The message without the full stop. */
  readonly problem: string;

  constructor({ kind, path }: JsonLoss) {
    const place = formatPath(path);
    const problem =
      kind === "too_expanded"
        ? `The digits of the numbers up to ${place} make the text too large`
        : `The number at ${place || "the top"} has more than ${MAX_LONG_NUMBER_CHARS} digits`;
    super(`${problem}.`);
    this.path = place;
    this.problem = problem;
  }
}

/** JSON that is nested too deep. */
export class JsonTooDeepError extends Error {
  constructor(maxDepth: number) {
    super(`The JSON is nested deeper than ${maxDepth} levels.`);
  }
}

/**
 * Parses JSON of another system: long numbers are text with their digits. Of a key that occurs twice, the last value counts.
 * @param maxDepth maximum nesting, in levels
 * @throws SyntaxError for invalid JSON; JsonTooDeepError, NumberTooLargeError
 */
export function parseExactJson(text: string, maxDepth: number): unknown {
  if (isNestedDeeper(text, maxDepth)) throw new JsonTooDeepError(maxDepth);
  // Also where it is parsed again: the scan needs valid JSON.
  const value: unknown = JSON.parse(text);
  if (!LONG_NUMBER.test(text)) return value;
  const { losses, exact } = scanJson(text, { keys: false });
  if (losses[0] !== undefined) throw new NumberTooLargeError(losses[0]);
  return exact === text ? value : JSON.parse(exact);
}

/**
 * Returns JSON with its long numbers as text, for a parser that would round them.
 * @param isRead whether a place is read so; the rest stays as it is
 * @returns the text itself if it has no long number, or is not valid JSON
 * @throws NumberTooLargeError
 */
export function exactJsonText(text: string, isRead: NonNullable<ScanOptions["isRead"]>): string {
  if (!LONG_NUMBER.test(text) || !isJson(text)) return text;
  const { losses, exact } = scanJson(text, { keys: false, isRead });
  if (losses[0] !== undefined) throw new NumberTooLargeError(losses[0]);
  return exact;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Finds in JSON text what its parsed value would lose: the digits of numbers that a double can't hold, which become long numbers
 * (`long-numbers.ts`), and keys that occur twice. (Child processes load this file: it imports little.)
 */
import { readNumber } from "../../schemas/long-numbers.ts";

/** Maximum number of losses reported for one text. */
const MAX_LOSSES = 100;
/** Number of characters by which a text may grow beyond its own length: five characters (`1e990`) can write a thousand digits. */
export const MAX_ADDED_CHARS = 64 * 1024;
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

/** Every JSON text with long numbers contains this: many digits in a row, with or without a point, or a large exponent. */
export const LONG_NUMBER = /\d[\d.]{15}|[eE][+-]?\d{3}/;

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

export interface ScanOptions {
  /** Whether keys that occur twice are losses. */
  keys: boolean;
  /** Whether a place is read; default: all. It gets the first parts of a path (`MAX_DECISIVE_PARTS`). */
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
      if (
        frame?.isKeyNext === true &&
        takeKey(frame, text.slice(at, end + 1), keys) &&
        (isRead === undefined || isRead(path(MAX_DECISIVE_PARTS)))
      )
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

/**
 * Whether an object of a text may have a key twice: there is no less than one quote with a colon for each key. To count them takes a
 * fraction of the time of a scan.
 * @param value the text as JSON.parse returns it
 */
export function mayRepeatKeys(text: string, value: unknown): boolean {
  const ends = /"\s*:/g;
  let unmatched = -countKeys(value);
  while (unmatched <= 0 && ends.test(text)) unmatched += 1;
  return unmatched > 0;
}

/** Whether an object of a text has a key twice. @param value the text as JSON.parse returns it */
export const hasRepeatedKey = (text: string, value: unknown): boolean =>
  mayRepeatKeys(text, value) &&
  scanJson(text, { keys: true }).losses.some(({ kind }) => kind === "duplicate_key");

function countKeys(value: unknown): number {
  let count = 0;
  const stack: unknown[] = [value];
  const push = (inner: unknown): void => {
    if (typeof inner === "object" && inner !== null) stack.push(inner);
  };
  while (stack.length > 0) {
    const next = stack.pop();
    if (Array.isArray(next)) for (const item of next as unknown[]) push(item);
    else if (typeof next === "object" && next !== null) {
      const keys = Object.keys(next);
      count += keys.length;
      for (const key of keys) push((next as Readonly<Record<string, unknown>>)[key]);
    }
  }
  return count;
}

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

/** Basic types of the schemas. Lengths count Unicode code points, as JSON Schema does. */
import { z } from "zod";
import { findHiddenCharacter, removeHiddenCharacters, type TextKind } from "./hidden-characters.ts";

/**
 * Whether a text can't be stored as it is: PostgreSQL's text type rejects NUL, and a lone surrogate does not survive UTF-8. Inputs
 * with such a text are refused.
 */
export const isUnstorable = (value: string): boolean => !value.isWellFormed() || value.includes("\u0000");

const codePoints = (value: string): number => {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
};

// `continue`: the value is still a string, so the checks of the enclosing object run too.
const common = { origin: "string", inclusive: true, continue: true } as const;

/**
 * A string of limited length.
 * @param max maximum length, in code points
 * @param min 1 requires at least one character that is not white space
 */
export function text(max: number, min: 0 | 1 = 0) {
  return z
    .string()
    .check((ctx) => {
      const value = ctx.value;
      // The cheap test first: a megabyte of text is refused without counting its code points.
      const tooLong = value.length > max && (value.length > max * 2 || codePoints(value) > max);
      if (tooLong) {
        ctx.issues.push({ code: "too_big", maximum: max, ...common, input: value });
      } else if (min > 0 && value.trim() === "") {
        ctx.issues.push({ code: "too_small", minimum: min, ...common, input: value });
      }
      if (isUnstorable(value)) {
        ctx.issues.push({
          code: "custom",
          params: { code: "invalid_text" },
          message: "must not contain NUL or half a surrogate pair",
          continue: true,
          input: value,
        });
      }
    })
    .meta({ maxLength: max, ...(min > 0 && { minLength: min, pattern: "\\S" }) });
}

/**
 * A text that other people and their agents read: one line or several, without hidden characters.
 * @param max maximum length, in code points
 * @param min 1 requires at least one character that is not white space
 */
export const visible = (kind: TextKind, max: number, min: 0 | 1 = 0) =>
  text(max, min).check((ctx) => {
    const { value } = ctx;
    // Such a text is refused already, one that is too long without a search.
    if (value.length > max * 2 || isUnstorable(value) || (min > 0 && value.trim() === "")) return;
    const hidden = findHiddenCharacter(value, kind);
    if (hidden === undefined) return;
    ctx.issues.push({
      code: "custom",
      params: {
        code: "invalid_text",
        did_you_mean: removeHiddenCharacters(value, kind),
        fix: "Remove it; did_you_mean is the text without hidden characters.",
      },
      message: `must not contain control, format or other hidden characters, such as ${hidden}`,
      continue: true,
      input: value,
    });
  });

/** The distinct words of a search, in lower case. */
export const searchTerms = (search: string): string[] => [
  ...new Set(search.toLowerCase().split(/\s+/).filter(Boolean)),
];

/** Maximum number of search words. Each may be compared with many texts, so many of them would slow other requests. */
export const MAX_SEARCH_WORDS = 8;

export const SearchWords = text(200, 1).refine((search) => searchTerms(search).length <= MAX_SEARCH_WORDS, {
  message: `must contain at most ${MAX_SEARCH_WORDS} different words`,
  params: { code: "too_many_words" },
});

/** A time in UTC, ISO 8601 with milliseconds. */
export const timestamp = z.string().meta({
  format: "date-time",
  description: "A time in UTC (ISO 8601).",
  example: "2026-11-21T08:00:00.000Z",
});

/** Maximum nesting of a client's JSON value, in levels, so that recursive code can't overflow the stack. */
export const MAX_JSON_DEPTH = 64;

/** Whether a JSON value contains a number that JSON can't represent: `1e999` is parsed as Infinity and written as null. */
export const containsInfinity = (value: unknown): boolean =>
  someValue(value, (inner) => typeof inner === "number" && !Number.isFinite(inner));

/** Whether `value` is nested deeper than `max` levels (`{}` is one level, `{"a": []}` two). Does not recurse. */
export const exceedsDepth = (value: unknown, max: number): boolean =>
  someValue(value, (inner, above) => above >= max && isContainer(inner));

/**
 * Whether a JSON value, or a part of it, passes a test. Depth first and without recursion, so that it neither overflows the
 * stack nor collects all parts: 333,000 empty lists would take as long as parsing them.
 * @param test is passed each value, and the number of containers around it
 */
function someValue(value: unknown, test: (value: unknown, above: number) => boolean): boolean {
  if (test(value, 0)) return true;
  /** The values of the containers around the current one, and how many of each are done. */
  const path: (readonly unknown[])[] = isContainer(value) ? [valuesOf(value)] : [];
  const done = [0];
  while (path.length > 0) {
    const depth = path.length;
    const values = path[depth - 1]!;
    let at = done[depth - 1]!;
    while (at < values.length && path.length === depth) {
      const inner = values[at]!;
      at += 1;
      if (test(inner, depth)) return true;
      if (isContainer(inner)) path.push(valuesOf(inner));
    }
    done[depth - 1] = at;
    if (path.length > depth) done[depth] = 0;
    else path.pop();
  }
  return false;
}

/** `for in`, because `Object.values` takes three times as long for 50,000 keys. */
function valuesOf(container: object): readonly unknown[] {
  if (Array.isArray(container)) return container;
  const values: unknown[] = [];
  for (const key in container) values.push((container as Record<string, unknown>)[key]);
  return values;
}

/** Whether a value is an object or a list of JSON. */
export const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;

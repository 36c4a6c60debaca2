/** Basic types of the schemas. Lengths count Unicode code points, as JSON Schema does. */
import { z } from "zod";
import { foldText, searchTerms } from "./fold-text.ts";
import { describeHiddenCharacter, removeHiddenCharacters, type TextKind } from "./hidden-characters.ts";

// PostgreSQL's text type rejects NUL, and a lone surrogate does not survive UTF-8, so both are refused.
const unstorable = (value: string): boolean => !value.isWellFormed() || value.includes("\u0000");

/** White space, and the Braille pattern without dots. */
const BLANK = /^[\s\u2800]*$/;

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
      if (unstorable(value)) {
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
 * @param min 1 requires at least one character that people see
 */
export const visible = (kind: TextKind, max: number, min: 0 | 1 = 0) =>
  text(max, min).check(visibleOnly(kind, max, min));

/** The check of `visible`, for texts with a form of their own. */
export const visibleOnly =
  (kind: TextKind, max: number, min: 0 | 1): z.core.CheckFn<string> =>
  (ctx) => {
    const { value } = ctx;
    // Such a text is refused already, one that is too long without a search.
    if (value.length > max * 2 || unstorable(value) || (min > 0 && value.trim() === "")) return;
    const hidden = describeHiddenCharacter(value, kind);
    const cleaned = hidden === undefined ? value : removeHiddenCharacters(value, kind);
    const isEmpty = min > 0 && BLANK.test(cleaned);
    if (hidden === undefined) {
      if (isEmpty) ctx.issues.push({ code: "too_small", minimum: min, ...common, input: value });
      return;
    }
    ctx.issues.push({
      code: "custom",
      params: {
        code: "invalid_text",
        ...(!isEmpty && { did_you_mean: cleaned }),
        fix: isEmpty
          ? "Write a text that people see."
          : kind === "line" && cleaned !== ""
            ? `Write ${JSON.stringify(cleaned)}, which has none.`
            : "Remove it; did_you_mean is the text without hidden characters.",
      },
      message: `must not contain control, format or other hidden characters, got ${hidden}`,
      continue: true,
      input: value,
    });
  };

/** The words of a search. One of characters that searches ignore would find everything. */
export const SearchText = text(200, 1).check((ctx) => {
  if (ctx.value.trim() !== "" && foldText(ctx.value).trim() === "")
    ctx.issues.push({ code: "too_small", minimum: 1, ...common, input: ctx.value });
});

/** Maximum number of search words. Each may be compared with every text, so many of them would slow other requests. */
export const MAX_WORDS = 8;

/** Words that all have to be found. */
export const SearchWords = SearchText.refine((search) => searchTerms(search).length <= MAX_WORDS, {
  message: `must contain at most ${MAX_WORDS} different words`,
  params: { code: "too_many_words" },
});

/** A time in UTC, ISO 8601 with milliseconds. */
export const timestamp = z.string().meta({
  format: "date-time",
  description: "A time in UTC (ISO 8601).",
  example: "2026-11-21T08:00:00.000Z",
});

/** A time of a schedule, as its zone shows it. */
export const zonedTimestamp = z.string().meta({
  format: "date-time",
  description: "A local time of the schedule's zone, with its offset.",
  example: "2026-11-23T08:00:00+01:00",
});

/** Maximum nesting of a client's JSON value, in levels, so that recursive code can't overflow the stack. */
export const MAX_JSON_DEPTH = 64;

/** What a walk through the levels of a JSON value finds. */
interface JsonLevels {
  /** Whether it is nested deeper than the maximum; what is deeper is not looked at. */
  isTooDeep: boolean;
  /** Whether it contains a number that JSON can't represent: `1e999` is parsed as Infinity and written as null. */
  hasInfinity: boolean;
}

/** Walks through a JSON value, level by level: `{}` is one level, `{"a": []}` two. Does not recurse. */
function walkLevels(value: unknown, max: number): JsonLevels {
  let hasInfinity = false;
  let level: object[] = [];
  const visit = (inner: unknown, next: object[]): void => {
    if (typeof inner === "object") {
      if (inner !== null) next.push(inner);
    } else if (typeof inner === "number" && !Number.isFinite(inner)) hasInfinity = true;
  };
  visit(value, level);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === max) return { isTooDeep: true, hasInfinity };
    const next: object[] = [];
    for (const container of level) {
      // Without a list of the values where there is one already: a body of some MiB has hundreds of thousands.
      const values: readonly unknown[] = Array.isArray(container) ? container : Object.values(container);
      for (const inner of values) visit(inner, next);
    }
    level = next;
  }
  return { isTooDeep: false, hasInfinity };
}

/** Whether `value` is nested deeper than `max` levels. */
export const exceedsDepth = (value: unknown, max: number): boolean => walkLevels(value, max).isTooDeep;

/** Checks what holds for every JSON value that is stored: its nesting, and that JSON can represent its numbers. */
export function checkJsonValue(ctx: z.core.ParsePayload): void {
  const { isTooDeep, hasInfinity } = walkLevels(ctx.value, MAX_JSON_DEPTH);
  const report = (code: string, message: string): void =>
    void ctx.issues.push({ code: "custom", params: { code }, message, continue: true, input: ctx.value });
  if (isTooDeep) report("too_deep", `must not be nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (hasInfinity)
    report("not_finite", "must not contain a number too large for JSON readers (beyond about 1.8e308)");
}

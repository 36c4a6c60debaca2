/** The plain types that every noun is made of. Lengths count Unicode code points, as JSON Schema does. */
import { z } from "zod";

// PostgreSQL's text can't hold NUL, and a lone surrogate doesn't survive UTF-8: neither ever gets in.
const unstorable = (value: string): boolean => !value.isWellFormed() || value.includes("\u0000");

const codePoints = (value: string): number => {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
};

// `continue`: it is a string all the same, so what holds it goes on to its own checks.
const common = { origin: "string", inclusive: true, continue: true } as const;

/**
 * A string of `min` to `max` code points.
 * @param max at most so many code points
 * @param min with 1, one of them must not be white space
 */
export function text(max: number, min: 0 | 1 = 0) {
  return z
    .string()
    .check((ctx) => {
      const value = ctx.value;
      // The cheap bound first: a megabyte of text is refused without being counted.
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
          message: "must not hold NUL or half a surrogate pair",
          continue: true,
          input: value,
        });
      }
    })
    .meta({ maxLength: max, ...(min > 0 && { minLength: min, pattern: "\\S" }) });
}

/** The words of a search, each once, in lower case. */
export const searchTerms = (search: string): string[] => [
  ...new Set(search.toLowerCase().split(/\s+/).filter(Boolean)),
];

/** A moment in UTC, ISO 8601 with milliseconds. */
export const timestamp = z.string().meta({
  format: "date-time",
  description: "A moment in UTC (ISO 8601).",
  example: "2026-11-21T08:00:00.000Z",
});

/** How deep a JSON value of a client's may be nested, so that nothing that walks it can run out of stack. */
export const MAX_JSON_DEPTH = 64;

/** Whether a JSON value holds a number that JSON can't write: `1e999` is read as Infinity, and would become null. */
export function containsInfinity(value: unknown): boolean {
  const left: unknown[] = [value];
  while (left.length > 0) {
    const item = left.pop();
    if (typeof item === "number" && !Number.isFinite(item)) return true;
    // One by one: a long list spread into arguments would be too many of them.
    if (typeof item === "object" && item !== null) for (const inner of Object.values(item)) left.push(inner);
  }
  return false;
}

/** Whether `value` nests deeper than `max` levels (`{}` is one, `{"a": []}` two). Walks without recursion. */
export function exceedsDepth(value: unknown, max: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; ; depth += 1) {
    level = level.filter((item) => typeof item === "object" && item !== null);
    if (level.length === 0) return false;
    if (depth === max) return true;
    level = level.flatMap((item) => Object.values(item as object));
  }
}

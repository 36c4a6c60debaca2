/** The plain types that every noun is made of. Lengths count Unicode code points, as JSON Schema does. */
import { z } from "zod";

// PostgreSQL's text can't hold NUL, and a lone surrogate doesn't survive UTF-8: neither ever gets in.
const unstorable = (value: string): boolean => !value.isWellFormed() || value.includes("\u0000");

const codePoints = (value: string): number => {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
};

/**
 * A string of `min` to `max` code points.
 * @param max at most so many code points
 * @param min at least so many; with 1 or more, one of them must not be white space
 */
export function text(max: number, min = 0) {
  return z
    .string()
    .check((ctx) => {
      const value = ctx.value;
      // The cheap bound first: a megabyte of text is refused without being counted.
      const tooLong = value.length > max && (value.length > max * 2 || codePoints(value) > max);
      if (tooLong) {
        ctx.issues.push({ code: "too_big", maximum: max, origin: "string", inclusive: true, input: value });
      } else if (min > 0 && value.trim() === "") {
        ctx.issues.push({ code: "too_small", minimum: min, origin: "string", inclusive: true, input: value });
      }
      if (unstorable(value)) {
        ctx.issues.push({
          code: "custom",
          params: { code: "invalid_text" },
          message: "must not hold NUL or half a surrogate pair",
          input: value,
        });
      }
    })
    .meta({ maxLength: max, ...(min > 0 && { minLength: min, pattern: "\\S" }) });
}

/** A moment in UTC, ISO 8601 with milliseconds. */
export const timestamp = z
  .string()
  .meta({
    format: "date-time",
    description: "A moment in UTC (ISO 8601).",
    example: "2026-11-21T08:00:00.000Z",
  });

/** How deep a JSON value of a client's may be nested, so that nothing that walks it can run out of stack. */
export const MAX_JSON_DEPTH = 64;

/** Whether `value` nests deeper than `max` levels. Walks without recursion. */
export function isDeeperThan(value: unknown, max: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > max) return true;
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== "object" || item === null) continue;
      for (const child of Object.values(item))
        if (typeof child === "object" && child !== null) next.push(child);
    }
    level = next;
  }
  return false;
}

/** Values that several fields of a definition have: expressions, durations, rates, JSON Schemas. */
import { z } from "zod";
import { exceedsDepth, MAX_JSON_DEPTH, text } from "./text.ts";

/** Matches text that contains an expression between `${{` and `}}`. */
export const EXPRESSION_PATTERN = /\$\{\{/;

/** `500ms`, `30s`, `10m`, `1h30m`, `2d`. */
export const DURATION_PATTERN = /^(?:\d{1,9}(?:ms|s|m|h|d)){1,4}$/;

export const Duration = z
  .string()
  .regex(DURATION_PATTERN, {
    error: "must be a duration such as 500ms, 30s, 10m, 1h30m or 2d",
  })
  .meta({ description: "A duration: 500ms, 30s, 10m, 1h30m, 2d.", example: "30s" });

/** `5/s`, `100/m`, `1000/h`, `500/d`. */
export const RATE_PATTERN = /^([1-9]\d{0,5})\/([smhd])$/;

export const Rate = z
  .string()
  .regex(RATE_PATTERN, { error: "must be a rate such as 5/s, 100/m, 1000/h or 500/d" })
  .meta({ description: "A rate: 5/s, 100/m, 1000/h, 500/d.", example: "5/s" });

/** One CEL expression, bare or as a whole `${{ }}`. */
export const Cel = z.union([text(10_000, 1), z.boolean()]).meta({
  description: "A CEL expression, bare or as one whole ${{ }}.",
  example: "steps.revenue.row_count > 0",
});

/** A JSON Schema. The checker validates its keywords. */
export const JsonSchemaObject = z
  .record(z.string(), z.unknown())
  .refine((value) => !exceedsDepth(value, MAX_JSON_DEPTH), {
    message: `must not be nested deeper than ${MAX_JSON_DEPTH} levels`,
    params: { code: "too_deep" },
  });

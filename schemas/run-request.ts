/** What callers send to start runs, to wait for them and to list them. */
import { z } from "zod";
import { shortSchemas } from "./short-schemas.ts";
import { containsInfinity, exceedsDepth, isContainer, MAX_JSON_DEPTH } from "./text.ts";

/** Maximum time that a caller may wait for a run, in seconds. */
export const MAX_WAIT_SECONDS = 50;

export const WaitSeconds = z
  .int()
  .min(0)
  .max(MAX_WAIT_SECONDS)
  .meta({
    description: `Seconds to wait for the end of the run, 0 to ${MAX_WAIT_SECONDS}. Default: 20 over MCP, 0 over REST.`,
    example: 20,
  })
  .register(shortSchemas, {
    type: "integer",
    description: `Seconds to wait for its end, at most ${MAX_WAIT_SECONDS}. Default: 20.`,
  });

/**
 * Any JSON object. Not `z.record`, which visits and copies every field: 50,000 of them would keep a listener from others for
 * 100 ms.
 */
const anyObject = z
  .unknown()
  .check((ctx) => {
    const { value } = ctx;
    if (!isContainer(value) || Array.isArray(value))
      ctx.issues.push({ code: "invalid_type", expected: "record", input: value });
  })
  .meta({ type: "object", additionalProperties: {} }) as unknown as z.ZodType<Record<string, unknown>>;

export const RunInputs = anyObject
  .refine((value) => !exceedsDepth(value, MAX_JSON_DEPTH), {
    message: `must not be nested deeper than ${MAX_JSON_DEPTH} levels`,
    params: { code: "too_deep" },
  })
  .refine((value) => !containsInfinity(value), {
    message: "must not contain a number too large for JSON readers (beyond about 1.8e308)",
    params: { code: "not_finite" },
  });

/** As `RunInputs`, and empty if left out. The OpenAPI document has no default of a type that is only in the metadata. */
export const OptionalRunInputs = RunInputs.default({}).meta({ default: {} });

/** A time as a client writes it: a timestamp, or a date for the start of that day in UTC. */
export const TimestampInput = z
  .string()
  .refine(
    (moment) =>
      /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(moment) &&
      !Number.isNaN(Date.parse(moment)),
    {
      message: "must be a time such as 2026-11-21T08:00:00Z, or a date such as 2026-11-21",
      params: { code: "wrong_format" },
    },
  );

import { z } from "zod";
import { Duration } from "../../schemas/workflow-definition.ts";
import { DAY, iso } from "../core/clock.ts";
import type { PartialIssue } from "../core/connections.ts";
import { durationMs } from "../core/duration.ts";
import { objectOf, STRING } from "../core/shapes.ts";
import { StepError } from "../core/step-errors.ts";
import { defineStepType, literal, template, type UnresolvedStep } from "../core/step-type.ts";

/** Maximum wait, in milliseconds. */
const MAX_WAIT_MS = 365 * DAY;
const TOO_LONG = "must be at most 365 days ahead";

export const waitStep = defineStepType({
  type: "wait",
  title: "Wait",
  description: "Waits for a duration or until a time. A waiting run uses no resources and survives restarts.",
  fields: {
    for: literal(
      Duration.optional().meta({ description: "How long to wait, at most 365 days.", example: "10m" }),
    ),
    until: template(
      z.iso.datetime({ offset: true, error: "must be a time such as 2026-11-21T08:00:00Z" }).optional().meta({
        description:
          "Until when to wait, instead of for: a time (ISO 8601 with an offset or Z) at most 365 days ahead. A time in the past ends the wait at once.",
        example: "2026-11-21T08:00:00Z",
      }),
    ),
  },
  example: { id: "let_it_settle", type: "wait", for: "10m" },
  output: objectOf({ waited_until: STRING }),
  timeoutMs: null,
  hasEffects: () => false,
  resource: () => null,
  check: (step) => Promise.resolve({ issues: issuesOf(step) }),
  run: (input, ctx) => {
    const now = ctx.now();
    const until = targetTime(input, now);
    const issue =
      until === undefined ? `The step ${ONE_OF.message}.` : `The time ${TOO_LONG}, got ${iso(until)}.`;
    if (until === undefined || until - now > MAX_WAIT_MS)
      return Promise.reject(new StepError("input_invalid", issue));
    return Promise.resolve(
      until <= now ? { kind: "done", output: { waited_until: iso(until) } } : { kind: "wait", until },
    );
  },
});

/** Returns milliseconds since 1970; undefined unless exactly one of the two fields is set. */
function targetTime(
  input: { for?: string | undefined; until?: string | undefined },
  now: number,
): number | undefined {
  if (input.for === undefined) return input.until === undefined ? undefined : Date.parse(input.until);
  return input.until === undefined ? now + durationMs(input.for) : undefined;
}

const ONE_OF = {
  code: "invalid",
  message: "must have exactly one of for and until",
  fix: "Write for: 10m, or until: 2026-11-21T08:00:00Z.",
} as const;

function issuesOf(step: UnresolvedStep): PartialIssue[] {
  const duration = step["for"];
  if ((duration === undefined) === (step["until"] === undefined)) return [ONE_OF];
  // The schema reports a value that is not a duration.
  return Duration.safeParse(duration).success && durationMs(duration as string) > MAX_WAIT_MS
    ? [{ path: ["for"], code: "too_large", message: TOO_LONG }]
    : [];
}

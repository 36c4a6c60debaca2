import { z } from "zod";
import { Duration } from "../../schemas/workflow-definition.ts";
import { DAY, iso } from "../core/clock.ts";
import type { PartialIssue } from "../core/connections.ts";
import { durationMs } from "../core/duration.ts";
import { objectOf, STRING } from "../core/shapes.ts";
import { StepError } from "../core/step-errors.ts";
import { defineStepType, literal, template, type UnresolvedStep } from "../core/step-type.ts";

const LONGEST = 365 * DAY;
const TOO_LONG = "must be at most 365 days away";

export const waitStep = defineStepType({
  type: "wait",
  title: "Wait",
  description:
    "Waits for a time or until a moment, and holds nothing meanwhile: it survives restarts and costs nothing.",
  fields: {
    for: literal(Duration.optional().meta({ description: "How long, at most 365 days.", example: "10m" })),
    until: template(
      z.iso
        .datetime({ offset: true, error: "must be a moment such as 2026-11-21T08:00:00Z" })
        .optional()
        .meta({
          description:
            "Or until when: a moment (ISO 8601, with its offset or Z) at most 365 days away; one that has passed is no wait.",
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
    const until = momentOf(input, now);
    const issue = until === undefined ? ONE_OF.message : `The moment ${TOO_LONG}: it is ${iso(until)}.`;
    if (until === undefined || until - now > LONGEST)
      return Promise.reject(new StepError("input_invalid", issue));
    return Promise.resolve(
      until <= now ? { kind: "done", output: { waited_until: iso(until) } } : { kind: "wait", until },
    );
  },
});

/** In milliseconds since 1970; undefined unless exactly one of the two is given. */
function momentOf(
  input: { for?: string | undefined; until?: string | undefined },
  now: number,
): number | undefined {
  if (input.for === undefined) return input.until === undefined ? undefined : Date.parse(input.until);
  return input.until === undefined ? now + durationMs(input.for) : undefined;
}

const ONE_OF = {
  code: "invalid",
  message: "needs exactly one of for and until",
  fix: "Write for: 10m, or until: 2026-11-21T08:00:00Z.",
} as const;

function issuesOf(step: UnresolvedStep): PartialIssue[] {
  const length = step["for"];
  if ((length === undefined) === (step["until"] === undefined)) return [ONE_OF];
  // What is no duration at all is the schema's fault to tell.
  return Duration.safeParse(length).success && durationMs(length as string) > LONGEST
    ? [{ path: ["for"], code: "too_large", message: TOO_LONG }]
    : [];
}

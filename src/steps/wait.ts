import { z } from "zod";
import { Cel, Duration, JsonSchemaObject } from "../../schemas/field-values.ts";
import { Signature } from "../../schemas/signature.ts";
import { DAY, iso } from "../core/clock.ts";
import { signatureIssues } from "../core/webhook-signatures/issues.ts";
import type { Http, PartialIssue } from "../core/connections.ts";
import { durationMs } from "../core/duration.ts";
import { schemaIssues, shapeOfSchema } from "../core/json-schema/index.ts";
import { ANY, nullable, objectOf, type Shape, STRING } from "../core/shapes.ts";
import { StepError } from "../core/step-errors.ts";
import { defineStepType, literal, type StepCheck, template, type UnresolvedStep } from "../core/step-type.ts";
import { asWritten } from "./as-written.ts";

const EVENT_SCHEMA = {
  type: "object",
  properties: { approved: { type: "boolean" } },
  required: ["approved"],
};
/** Maximum wait, in milliseconds. */
const MAX_WAIT_MS = 365 * DAY;
const TOO_LONG = "must be at most 365 days ahead";

export const waitStep = defineStepType({
  type: "wait",
  title: "Wait",
  description:
    "Waits for a duration, until a time, or for an event, which is posted to run.event_urls.<id>. Any step may hand this URL out. " +
    "With timeout the wait for an event fails with event_timeout. A waiting run uses no resources and survives restarts.",
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
    event: literal(
      z
        .strictObject({
          schema: JsonSchemaObject.optional().meta({
            description: "A JSON Schema of the event. Another body is refused, and the URL stays valid.",
            example: EVENT_SCHEMA,
          }),
          signature: Signature.optional(),
          match: Cel.optional().meta({
            description:
              "Ends the wait only with an event for which this is true; others are answered and dropped. Reads event.body, event.received_at, and what the step can read.",
            example: "event.body.order == inputs.order",
          }),
        })
        .optional()
        .meta({
          description:
            "Instead of for: waits until one JSON is posted to run.event_urls.<id>. The output has body and received_at.",
          example: { schema: EVENT_SCHEMA },
        }),
    ),
  },
  example: { id: "let_it_settle", type: "wait", for: "10m" },
  output: objectOf({ waited_until: nullable(STRING), body: nullable(ANY), received_at: nullable(STRING) }),
  timeoutMs: null,
  hasEffects: () => false,
  resource: () => null,
  describeEffect: ({ for: duration, until, event }) => ({
    words: event === undefined ? `Waits ${asWritten(duration ?? until)}` : "Waits for an event from outside",
    does: "waits",
    targets: [],
  }),
  // Its URL, and so the event, belongs to one run.
  isReusable: (step) => step["event"] === undefined,
  check: (step, ctx) =>
    Promise.resolve(checkWait(step, () => (ctx.hasConnections ? ctx.connections.http.secrets() : undefined))),
  run: (input, ctx) => {
    const { event } = input;
    if (event !== undefined && input.for === undefined && input.until === undefined)
      return Promise.resolve({ kind: "event" });
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

/** Returns milliseconds since 1970; undefined unless exactly one of the two times is set, and no event. */
function targetTime(
  input: { for?: string | undefined; until?: string | undefined; event?: unknown },
  now: number,
): number | undefined {
  if (input.event !== undefined) return undefined;
  if (input.for === undefined) return input.until === undefined ? undefined : Date.parse(input.until);
  return input.until === undefined ? now + durationMs(input.for) : undefined;
}

const ONE_OF = {
  code: "invalid",
  message: "must have exactly one of for, until and event",
  fix: "Write for: 10m, until: 2026-11-21T08:00:00Z, or event: {}.",
} as const;

/** @param secrets returns undefined where their names are not checked; called for a signature only */
function checkWait(step: UnresolvedStep, secrets: () => ReturnType<Http["secrets"]> | undefined): StepCheck {
  const event = step["event"] as { schema?: unknown; signature?: unknown } | undefined;
  return {
    issues: [
      ...issuesOf(step, event?.schema),
      ...(event?.signature === undefined ? [] : signatureIssues(event.signature, secrets())).map((issue) =>
        Object.assign({}, issue, { path: ["event", ...(issue.path ?? [])] }),
      ),
    ],
    output: event === undefined ? objectOf({ waited_until: STRING }) : eventOutput(event.schema),
  };
}

const eventOutput = (schema: unknown): Shape =>
  objectOf({ body: schema === undefined ? ANY : shapeOfSchema(schema), received_at: STRING });

function issuesOf(step: UnresolvedStep, schema: unknown): PartialIssue[] {
  const duration = step["for"];
  const set = [duration, step["until"], step["event"]].filter((field) => field !== undefined);
  if (set.length !== 1) return [ONE_OF];
  if (schema !== undefined) {
    return schemaIssues(schema).map((issue) =>
      Object.assign({}, issue, { path: ["event", "schema", ...(issue.path ?? [])] }),
    );
  }
  // The schema reports a value that is not a duration.
  return Duration.safeParse(duration).success && durationMs(duration as string) > MAX_WAIT_MS
    ? [{ path: ["for"], code: "too_large", message: TOO_LONG }]
    : [];
}

/** Checks the top-level fields: inputs, examples, the schedule, and the workflow that runs on failure. */
import { readCron } from "../../../../schemas/cron.ts";
import { EXPRESSION_PATTERN } from "../../../../schemas/field-values.ts";
import { iso, SECOND } from "../../../core/clock.ts";
import { nearMatch } from "../../../core/near-match.ts";
import { ANY, objectOf, type Shape, STRING } from "../../../core/shapes.ts";
import { unknownWorkflow } from "../../../steps/unknown-workflow.ts";
import { checkValue } from "../expressions/index.ts";
import { durationMs } from "../../../core/duration.ts";
import { findCloseTimes } from "../schedule-interval.ts";
import { nextTime, nextTimesInZone } from "../schedule-times.ts";
import {
  type InputsValidator,
  inputsValidator,
  type JsonSchema,
  schemaIssues,
  shapeIssues,
  shapeOfSchema,
  templateIssues,
} from "../../../core/json-schema/index.ts";
import type { CalledWorkflows } from "./called-workflows.ts";
import { hasErrors, prefixPath, type LocatedIssue } from "./check-report.ts";
import { CRON_FIELDS_FIX, cronWithoutTimes, dayOrWeekdayIssues, unreadableCron } from "./cron-issues.ts";
import { ERROR_SHAPE, RUN_FIELDS } from "./step-shapes.ts";

type Top = Readonly<Record<string, unknown>>;

export interface CheckedInputs {
  issues: LocatedIssue[];
  shape: Shape;
  /** Undefined if the schema has issues. */
  validator: InputsValidator | undefined;
  /** Undefined if it has issues. */
  schema?: JsonSchema;
}

/** The inputs of a workflow that declares none. */
const NO_INPUTS: JsonSchema = { type: "object", properties: {} };

/** @param schema the `inputs` of the definition, of any type */
export function checkInputs(schema: unknown): CheckedInputs {
  if (schema === undefined)
    return { issues: [], shape: objectOf({}), validator: inputsValidator(null), schema: NO_INPUTS };
  const found = schemaIssues(schema);
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    // The schema of the definition reports this.
    return { issues: [], shape: ANY, validator: undefined };
  if ((schema as JsonSchema)["type"] !== "object")
    found.push({
      path: ["type"],
      code: "type" in schema ? "not_allowed" : "missing",
      message: "must be object, because inputs have names",
      allowed: ["object"],
      fix: "Write type: object, with the inputs under properties.",
    });
  const issues = found.map((issue) => prefixPath(["inputs"], issue));
  return issues.length > 0
    ? { issues, shape: ANY, validator: undefined }
    : {
        issues,
        shape: shapeOfSchema(schema),
        validator: inputsValidator(schema as JsonSchema),
        schema: schema as JsonSchema,
      };
}

export interface CheckedSchedule {
  issues: LocatedIssue[];
  /** The next times in the zone of the schedule, with its offset; none where the times have issues. */
  nextTimes: string[];
}

/** Number of next times in a report. */
const NEXT_TIMES = 5;

/**
 * @param now the present time, in milliseconds since 1970: a schedule must have a time after it
 * @param minInterval the shortest time between two runs, as a duration such as 1m
 */
export function checkSchedule(
  schedule: Top,
  { schema }: CheckedInputs,
  now: number,
  minInterval: string,
): CheckedSchedule {
  const { inputs = {}, cron, timezone = "UTC" } = schedule;
  const isObject = typeof inputs === "object" && inputs !== null && !Array.isArray(inputs);
  const issues =
    typeof cron === "string" && typeof timezone === "string"
      ? [...timezoneIssues(timezone), ...cronIssues(cron, now, minInterval)]
      : undefined;
  return {
    issues: [
      ...(issues ?? []),
      ...(schema === undefined || !isObject ? [] : scheduledInputs(inputs as Top, schema, now)),
    ],
    nextTimes:
      issues === undefined || hasErrors(issues)
        ? []
        : nextTimesInZone({ cron: cron as string, timezone: timezone as string }, now, NEXT_TIMES),
  };
}

function timezoneIssues(timezone: string): LocatedIssue[] {
  if (isTimezone(timezone)) return [];
  const near = nearMatch(timezone, Intl.supportedValuesOf("timeZone"));
  return [
    {
      path: ["schedule", "timezone"],
      code: "not_allowed",
      message: "is not a known time zone",
      ...(near !== undefined && { did_you_mean: near }),
      fix: `Write ${near ?? "an IANA name, such as Europe/Berlin"}.`,
    },
  ];
}

function cronIssues(cron: string, now: number, minInterval: string): LocatedIssue[] {
  if (EXPRESSION_PATTERN.test(cron))
    return [
      {
        path: ["schedule", "cron"],
        code: "no_expression_here",
        message: "must not contain an expression",
        fix: CRON_FIELDS_FIX,
      },
    ];
  const read = readCron(cron);
  if ("problem" in read) return [unreadableCron(cron, read.problem, now)];
  // A change of the clock moves a time, so whether there is one does not depend on the zone.
  if (nextTime({ cron, timezone: "UTC" }, now) === null)
    return [cronWithoutTimes(cron, read.expression, now)];
  return [...dayOrWeekdayIssues(cron, read.expression, now), ...intervalIssues(cron, minInterval)];
}

/** Refuses a schedule that runs more often than the operator allows. */
function intervalIssues(cron: string, minInterval: string): LocatedIssue[] {
  const minMs = durationMs(minInterval);
  const close = findCloseTimes(cron, minMs);
  if (close === undefined) return [];
  const [first, second] = [close.first, close.second].map((at) => iso(at).slice(11, 19));
  const path = ["schedule", "cron"];
  const rarer = withoutSeconds(cron, minMs);
  return [
    {
      path,
      code: "schedule_too_frequent",
      message:
        `runs at ${first} and at ${second}, ${(close.second - close.first) / SECOND} s later; ` +
        `at least ${minInterval} must be between two runs (limits.min_schedule_interval)`,
      ...(rarer === undefined
        ? {
            fix: `Choose times that are at least ${minInterval} apart, or ask the operator for a shorter interval.`,
          }
        : { fix: `Write ${rarer}.`, patch: [{ op: "replace", path, value: rarer }] }),
    },
  ];
}

/** A cron expression of six fields with the first one left out, if that makes its interval long enough. */
function withoutSeconds(cron: string, minMs: number): string | undefined {
  const fields = cron.trim().split(/\s+/);
  const rarer = fields.slice(1).join(" ");
  return fields.length === 6 && findCloseTimes(rarer, minMs) === undefined ? rarer : undefined;
}

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** The scope of a schedule's templates. */
const SCHEDULE_SCOPE = {
  inputs: objectOf({}),
  run: objectOf({ ...RUN_FIELDS, scheduled_for: STRING }),
  steps: {},
  otherSteps: new Set<string>(),
};

function scheduledInputs(inputs: Top, schema: JsonSchema, now: number): LocatedIssue[] {
  const at = ["schedule", "inputs"];
  const { issues, shape } = checkValue(inputs, SCHEDULE_SCOPE);
  const isBroken = (path: readonly PropertyKey[] = []): boolean =>
    issues.some(
      ({ severity, path: broken = [] }) =>
        severity !== "warning" && broken.every((part, index) => path[index] === part),
    );
  const known = withScheduledTime(inputs, iso(now));
  const unfit = templateIssues(schema, known, shape).filter(({ path }) => !isBroken(path));
  return [...issues, ...unfit].map((issue) => prefixPath(at, issue));
}

const SCHEDULED_TIME = /\$\{\{\s*run\.scheduled_for\s*\}\}/g;

/** Replaces the scheduled time by an example, so that it is checked by its value. */
function withScheduledTime(value: unknown, time: string): unknown {
  if (typeof value === "string") return value.replaceAll(SCHEDULED_TIME, time);
  if (Array.isArray(value)) return value.map((item) => withScheduledTime(item, time));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withScheduledTime(inner, time)]),
  );
}

/** The inputs of a run that on_failure starts; it gets those of them that its workflow declares. */
const HANDLER_INPUTS: Readonly<Record<string, Shape>> = {
  run_id: STRING,
  workflow_id: STRING,
  error: ERROR_SHAPE,
};

/** @param selfId the workflow that the definition belongs to; undefined for a new one */
export async function onFailureIssues(
  id: string,
  workflows: CalledWorkflows,
  selfId: string | undefined,
): Promise<LocatedIssue[]> {
  const path = ["on_failure"];
  if (id === selfId)
    return [
      { path, code: "not_allowed", message: "must be another workflow: this one would run without end" },
    ];
  const found = workflows.find(id);
  if (found === undefined) return [{ path, ...unknownWorkflow(id, await workflows.ids()) }];
  const inputs = found.inputs ?? NO_INPUTS;
  const declared = Object.keys(inputs["properties"] ?? {});
  const passed = Object.entries(HANDLER_INPUTS).filter(([name]) => declared.includes(name));
  const misfits = shapeIssues(inputs, objectOf(Object.fromEntries(passed)), inputs);
  const unfit = misfits
    .filter(({ severity }) => severity !== "warning")
    .map((issue) => ({
      path,
      code: "unfit_inputs",
      message: `must be a workflow that run_id, workflow_id and error are enough for, but its input ${(issue.path ?? []).join(".")} ${issue.message}`,
      fix: `Change the inputs of ${id}: only run_id, workflow_id (text) and error (an object) can be required.`,
    }));
  return [...(found.obstacle === undefined ? [] : [{ path, ...found.obstacle }]), ...unfit];
}

/** @param max up to this priority, runs go before those of other owners */
export const priorityIssues = (priority: unknown, max: number): LocatedIssue[] =>
  typeof priority === "number" && priority > max
    ? [
        {
          path: ["priority"],
          code: "priority_capped",
          severity: "warning",
          message:
            `orders only your own runs above ${max}: beside the runs of others ${priority} counts as ${max} ` +
            "(limits.max_priority)",
          fix: `Keep it to order your own runs. Otherwise write ${max} or less, or ask the operator to raise the limit.`,
        },
      ]
    : [];

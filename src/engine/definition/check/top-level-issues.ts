/** Checks the top-level fields: inputs, examples, the schedule, and the workflow that runs on failure. */
import { EXPRESSION_PATTERN } from "../../../../schemas/workflow-definition.ts";
import { nearMatch } from "../../../core/near-match.ts";
import { ANY, objectOf, type Shape, STRING } from "../../../core/shapes.ts";
import { checkValue } from "../expressions/index.ts";
import { nextTime } from "../schedule-times.ts";
import {
  type InputsValidator,
  inputsValidator,
  type JsonSchema,
  schemaIssues,
  shapeOfSchema,
} from "../../../core/json-schema/index.ts";
import type { WorkflowLookup } from "./resource-checks.ts";
import { shapeConflicts } from "./shape-conflicts.ts";
import { hasErrors, prefixPath, type LocatedIssue, MAX_ISSUES } from "./check-report.ts";
import { RUN_FIELDS } from "./step-shapes.ts";

type Top = Readonly<Record<string, unknown>>;

export interface CheckedInputs {
  issues: LocatedIssue[];
  shape: Shape;
  /** Undefined if the schema has issues. */
  validator: InputsValidator | undefined;
}

/** @param schema the `inputs` of the definition, of any type */
export function checkInputs(schema: unknown): CheckedInputs {
  if (schema === undefined) return { issues: [], shape: objectOf({}), validator: inputsValidator(null) };
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
    : { issues, shape: shapeOfSchema(schema), validator: inputsValidator(schema as JsonSchema) };
}

/** Checks the inputs of the examples, up to the maximum number of issues. */
export async function exampleIssues(
  examples: unknown,
  validator: InputsValidator,
  yieldToEventLoop: () => Promise<void>,
): Promise<LocatedIssue[]> {
  const issues: LocatedIssue[] = [];
  if (!Array.isArray(examples)) return issues;
  for (const [index, example] of (examples as unknown[]).entries()) {
    if (issues.length >= MAX_ISSUES) break;
    if (typeof example !== "object" || example === null) continue;
    const parsed = validator.parse((example as { inputs?: unknown }).inputs ?? {});
    if ("issues" in parsed)
      issues.push(...parsed.issues.map((issue) => prefixPath(["examples", index, "inputs"], issue)));
    await yieldToEventLoop();
  }
  return issues;
}

/** @param now the present time, in milliseconds since 1970: a schedule must have a time after it */
export function scheduleIssues(
  schedule: Top,
  { validator, shape }: CheckedInputs,
  now: number,
): LocatedIssue[] {
  return [
    ...timeIssues(schedule, now),
    ...(validator === undefined
      ? []
      : scheduledInputs("inputs" in schedule ? schedule["inputs"] : {}, validator, shape)),
  ];
}

function timeIssues({ cron, timezone = "UTC" }: Top, now: number): LocatedIssue[] {
  const issues: LocatedIssue[] = [];
  if (typeof cron !== "string" || typeof timezone !== "string") return issues;
  const isKnown = isTimezone(timezone);
  if (!isKnown) {
    const near = nearMatch(timezone, Intl.supportedValuesOf("timeZone"));
    issues.push({
      path: ["schedule", "timezone"],
      code: "not_allowed",
      message: "is not a known time zone",
      ...(near !== undefined && { did_you_mean: near }),
      fix: `Write ${near ?? "an IANA name, such as Europe/Berlin"}.`,
    });
  }
  const path = ["schedule", "cron"];
  const fix =
    "Write five fields (minute hour day month weekday), such as 0 8 * * MON, or six with seconds first.";
  if (EXPRESSION_PATTERN.test(cron))
    return [...issues, { path, code: "no_expression_here", message: "must not contain an expression", fix }];
  try {
    if (nextTime({ cron, timezone: isKnown ? timezone : "UTC" }, now) === null)
      issues.push({ path, code: "not_allowed", message: "must match at least one date", fix });
  } catch (error) {
    const reason = (error as Error).message.replace(/^CronPattern: /, "");
    issues.push({ path, code: "wrong_format", message: `is not a valid cron expression: ${reason}`, fix });
  }
  return issues;
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

function scheduledInputs(inputs: unknown, validator: InputsValidator, shape: Shape): LocatedIssue[] {
  if (typeof inputs !== "object" || inputs === null || Array.isArray(inputs)) return [];
  const at = ["schedule", "inputs"];
  const fixed = Object.entries(inputs).filter(([, value]) => !containsExpression(value));
  const computed = new Set(Object.keys(inputs).filter((key) => !fixed.some(([name]) => name === key)));
  const parsed = validator.parse(Object.fromEntries(fixed));
  const issues = "issues" in parsed ? parsed.issues.map((issue) => prefixPath(at, issue)) : [];
  const found = issues.filter((issue) => !(issue.code === "missing" && computed.has(String(issue.path[2]))));
  for (const key of computed) {
    const checked = checkValue((inputs as Top)[key], SCHEDULE_SCOPE);
    const typeIssues = inputIssues(shape, key, checked.shape);
    const keyIssues = hasErrors(checked.issues) ? checked.issues : [...checked.issues, ...typeIssues];
    found.push(...keyIssues.map((issue) => prefixPath([...at, key], issue)));
  }
  return found;
}

function inputIssues(inputs: Shape, key: string, actual: Shape) {
  if (inputs.kind !== "object") return [];
  const expected = Object.hasOwn(inputs.fields, key) ? inputs.fields[key] : undefined;
  if (expected === undefined) {
    const allowed = Object.keys(inputs.fields);
    const near = nearMatch(key, allowed);
    return [
      {
        code: "unknown_key",
        message: "is not an input of this workflow",
        allowed,
        ...(near !== undefined && { did_you_mean: near }),
      },
    ];
  }
  return shapeConflicts(expected, actual);
}

function containsExpression(value: unknown): boolean {
  if (typeof value === "string") return EXPRESSION_PATTERN.test(value);
  return typeof value === "object" && value !== null && Object.values(value).some(containsExpression);
}

/** @param selfId the workflow that the definition belongs to; undefined for a new one */
export async function onFailureIssues(
  id: string,
  workflows: WorkflowLookup,
  selfId: string | undefined,
): Promise<LocatedIssue[]> {
  const path = ["on_failure"];
  if (id === selfId)
    return [
      { path, code: "not_allowed", message: "must be another workflow: this one would run without end" },
    ];
  if ((await workflows.workflow(id)) !== undefined) return [];
  const near = nearMatch(id, await workflows.workflowIds());
  return [
    {
      path,
      code: "unknown_workflow",
      message: `must be the id of a workflow, but there is no workflow ${id}`,
      ...(near !== undefined && { did_you_mean: near }),
      fix:
        near === undefined ? "Create the workflow first, or choose one of list_workflows." : `Write ${near}.`,
    },
  ];
}

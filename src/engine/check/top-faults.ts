/** What stands at the top: inputs, examples, the schedule, and the workflow that runs on failure. */
import { Cron } from "croner";
import { HOLDS_EXPRESSION } from "../../../schemas/workflow-definition.ts";
import { nearMatch } from "../../core/near-match.ts";
import { ANY, objectOf, type Shape, STRING } from "../../core/shapes.ts";
import { checkValue } from "../expressions/index.ts";
import {
  type InputsValidator,
  inputsValidator,
  type JsonSchema,
  schemaFaults,
  shapeOfSchema,
} from "../../core/json-schema/index.ts";
import type { WorkflowLookup } from "./bind.ts";
import { kindWord } from "./fits.ts";
import { below, type Located, MAX_FAULTS } from "./report.ts";
import { RUN_SHAPE } from "./step-shapes.ts";

type Top = Readonly<Record<string, unknown>>;

export interface CheckedInputs {
  faults: Located[];
  shape: Shape;
  /** Undefined while the schema can't be used. */
  validator: InputsValidator | undefined;
}

/** @param schema the definition's `inputs`, of any form */
export function checkInputs(schema: unknown): CheckedInputs {
  if (schema === undefined) return { faults: [], shape: objectOf({}), validator: inputsValidator(null) };
  const found = schemaFaults(schema);
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    // The definition's own schema tells that.
    return { faults: [], shape: ANY, validator: undefined };
  if ((schema as JsonSchema)["type"] !== "object")
    found.push({
      path: ["type"],
      code: "type" in schema ? "not_allowed" : "missing",
      message: "must be object: inputs have names",
      allowed: ["object"],
      fix: "Write type: object, and the inputs under properties.",
    });
  const faults = found.map((fault) => below(["inputs"], fault));
  return faults.length > 0
    ? { faults, shape: ANY, validator: undefined }
    : { faults, shape: shapeOfSchema(schema), validator: inputsValidator(schema as JsonSchema) };
}

/** @returns as many faults as are told at all: the examples after those are not looked at */
export async function exampleFaults(
  examples: unknown,
  validator: InputsValidator,
  breathe: () => Promise<void>,
): Promise<Located[]> {
  const faults: Located[] = [];
  if (!Array.isArray(examples)) return faults;
  for (const [index, example] of (examples as unknown[]).entries()) {
    if (faults.length >= MAX_FAULTS) break;
    if (typeof example !== "object" || example === null) continue;
    const parsed = validator.parse((example as { inputs?: unknown }).inputs ?? {});
    if ("faults" in parsed)
      faults.push(...parsed.faults.map((it) => below(["examples", index, "inputs"], it)));
    await breathe();
  }
  return faults;
}

/** @param now the moment, in milliseconds: a schedule must have a next time */
export function scheduleFaults(schedule: Top, { validator, shape }: CheckedInputs, now: number): Located[] {
  return [
    ...timeFaults(schedule, now),
    ...(validator === undefined
      ? []
      : scheduledInputs("inputs" in schedule ? schedule["inputs"] : {}, validator, shape)),
  ];
}

function timeFaults({ cron, timezone = "UTC" }: Top, now: number): Located[] {
  const faults: Located[] = [];
  if (typeof cron !== "string" || typeof timezone !== "string") return faults;
  const known = isTimezone(timezone);
  if (!known) {
    const near = nearMatch(timezone, Intl.supportedValuesOf("timeZone"));
    faults.push({
      path: ["schedule", "timezone"],
      code: "not_allowed",
      message: "is not a time zone",
      ...(near !== undefined && { did_you_mean: near }),
      fix: `Write ${near ?? "an IANA name, such as Europe/Berlin"}.`,
    });
  }
  const path = ["schedule", "cron"];
  const fix = "Five fields (minute hour day month weekday), such as 0 8 * * MON; six with seconds first.";
  if (HOLDS_EXPRESSION.test(cron))
    return [...faults, { path, code: "no_expression_here", message: "takes no expression", fix }];
  try {
    const times = new Cron(cron, { mode: "5-or-6-parts", paused: true, timezone: known ? timezone : "UTC" });
    if (times.nextRun(new Date(now)) === null)
      faults.push({ path, code: "not_allowed", message: "never comes: no day fits it", fix });
  } catch (error) {
    const reason = (error as Error).message.replace(/^CronPattern: /, "");
    faults.push({ path, code: "wrong_format", message: `is not a time that can be read: ${reason}`, fix });
  }
  return faults;
}

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** What a schedule's templates can read. */
const SCHEDULE_SCOPE = {
  inputs: objectOf({}),
  run: objectOf({ ...(RUN_SHAPE as { fields: Record<string, Shape> }).fields, scheduled_for: STRING }),
  steps: {},
  otherSteps: new Set<string>(),
};

function scheduledInputs(inputs: unknown, validator: InputsValidator, shape: Shape): Located[] {
  if (typeof inputs !== "object" || inputs === null || Array.isArray(inputs)) return [];
  const at = ["schedule", "inputs"];
  const fixed = Object.entries(inputs).filter(([, value]) => !holdsExpression(value));
  const made = new Set(Object.keys(inputs).filter((key) => !fixed.some(([it]) => it === key)));
  const parsed = validator.parse(Object.fromEntries(fixed));
  const faults = "faults" in parsed ? parsed.faults.map((it) => below(at, it)) : [];
  const real = faults.filter((fault) => !(fault.code === "missing" && made.has(String(fault.path[2]))));
  for (const key of made) {
    const checked = checkValue((inputs as Top)[key], SCHEDULE_SCOPE);
    const wrong = wrongInput(shape, key, checked.shape);
    const found = checked.faults.length > 0 ? checked.faults : wrong;
    real.push(...found.map((fault) => below([...at, key], fault)));
  }
  return real;
}

function wrongInput(inputs: Shape, key: string, given: Shape) {
  if (inputs.kind !== "object") return [];
  const wanted = Object.hasOwn(inputs.fields, key) ? inputs.fields[key] : undefined;
  if (wanted === undefined) {
    const allowed = Object.keys(inputs.fields);
    const near = nearMatch(key, allowed);
    return [
      {
        code: "unknown_key",
        message: "is not an input",
        allowed,
        ...(near !== undefined && { did_you_mean: near }),
      },
    ];
  }
  const open = [wanted, given].some((it) => it.kind === "any" || it.nullable === true);
  const objects: ReadonlySet<Shape["kind"]> = new Set(["map", "object"]);
  if (open || wanted.kind === given.kind || [wanted, given].every((it) => objects.has(it.kind))) return [];
  return [
    {
      code: "wrong_type",
      message: `must be ${kindWord(wanted)}, and the expression gives ${kindWord(given)}`,
    },
  ];
}

function holdsExpression(value: unknown): boolean {
  if (typeof value === "string") return HOLDS_EXPRESSION.test(value);
  return typeof value === "object" && value !== null && Object.values(value).some(holdsExpression);
}

/** @param selfId the workflow that the definition belongs to, where it has one already */
export async function onFailureFaults(
  id: string,
  workflows: WorkflowLookup,
  selfId: string | undefined,
): Promise<Located[]> {
  const path = ["on_failure"];
  if (id === selfId)
    return [
      { path, code: "not_allowed", message: "must be another workflow: this one would run again and again" },
    ];
  if ((await workflows.workflow(id)) !== undefined) return [];
  const near = nearMatch(id, await workflows.workflowIds());
  return [
    {
      path,
      code: "unknown_workflow",
      message: `there is no workflow ${id}`,
      ...(near !== undefined && { did_you_mean: near }),
      fix: near === undefined ? "Create it first, or see list_workflows." : `Write ${near}.`,
    },
  ];
}

/** Evaluates expressions over recorded runs, as a scan reads them. */
import type { RecordedRunScope, RunExpression } from "../../src/core/run-expressions.ts";
import type { ScannedRun, ScannedText, ScannedValue } from "../../src/core/run-ports.ts";
import { toStepStatus } from "../../src/core/step-states.ts";

/** Maximum length of a recorded value that is read, in characters of JSON. */
export const MAX_VALUE_CHARS = 262_144;
/** Maximum work of an expression for one run, in units of 10 ns: 1 ms. */
const MAX_WORK = 100_000;

/** The recorded values that expressions read. */
export function valuesReadBy(expressions: readonly RunExpression[]): ScannedValue[] {
  const names = new Set(expressions.flatMap((expression) => Array.from(expression.names)));
  const stepIds = new Set(expressions.flatMap((expression) => Array.from(expression.stepIds)));
  return [
    ...(["inputs", "output", "state"] as const).filter((what) => names.has(what)).map((what) => ({ what })),
    ...Array.from(stepIds, (stepId) => ({ what: "step_output" as const, stepId, item: null })),
  ];
}

/**
 * Creates a function that evaluates expressions for a run.
 * @param values what was read of it
 */
export function runEvaluator(
  run: ScannedRun,
  values: readonly ScannedValue[],
): (expression: RunExpression) => ReturnType<RunExpression["evaluate"]> {
  let scope: RecordedRunScope | undefined;
  return (expression) => {
    const unread = values.flatMap((value, index) =>
      isReadBy(expression, value) ? (whyUnread(value, run.values[index]) ?? []) : [],
    );
    if (unread.length > 0) return { message: unread[0]!, cost: 0 };
    return expression.evaluate((scope ??= scopeOf(run, values)), MAX_WORK);
  };
}

const isReadBy = ({ names, stepIds }: RunExpression, value: ScannedValue): boolean =>
  value.what === "step_output" ? stepIds.has(value.stepId) : names.has(value.what);

/** Why a value of a run can't be read; undefined if it can. */
function whyUnread(value: ScannedValue, read: ScannedText | undefined): string | undefined {
  const name = value.what === "step_output" ? `steps.${value.stepId}` : value.what;
  if (read === undefined) return `The run has no ${name}.`;
  return isTooLong(read)
    ? `${name} has ${read.chars} characters of JSON; at most ${MAX_VALUE_CHARS} are read.`
    : undefined;
}

const isTooLong = ({ text, chars }: ScannedText): boolean => chars > text.length;

function scopeOf(run: ScannedRun, values: readonly ScannedValue[]): RecordedRunScope {
  const steps: Record<string, unknown> = {};
  const own: Record<string, unknown> = {};
  for (const [index, value] of values.entries()) {
    const read = run.values[index];
    if (read === undefined || isTooLong(read)) continue;
    const parsed: unknown = read.text === "" ? {} : JSON.parse(read.text);
    if (value.what === "step_output")
      steps[value.stepId] = {
        ...(parsed as object),
        ...(read.state && { status: toStepStatus(read.state) }),
      };
    else own[value.what] = parsed;
  }
  return { inputs: {}, output: null, ...own, steps, run: fieldsOf(run) };
}

const fieldsOf = (run: ScannedRun): RecordedRunScope["run"] => ({
  id: run.id,
  workflow_id: run.workflowId,
  version: run.version,
  status: run.status,
  trigger: run.trigger,
  created_at: run.createdAt,
  started_at: run.startedAt,
  finished_at: run.finishedAt,
  duration_ms:
    run.startedAt === null || run.finishedAt === null
      ? null
      : Date.parse(run.finishedAt) - Date.parse(run.startedAt),
  error: run.error && {
    code: run.error.code,
    message: run.error.message,
    step_id: run.error.step_id ?? null,
  },
});

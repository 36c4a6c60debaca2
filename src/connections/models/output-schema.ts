/** Checks a model's answer against the JSON Schema of a workflow, with issues in words for the model. */
import { AppError } from "../../core/errors.ts";
import { StepError } from "../../core/step-errors.ts";
import { formatPath } from "../../core/issues.ts";
import { type JsonSchema, parseValue, schemaIssues } from "../../core/json-schema/index.ts";
import { isTimeout, runWithTimeout } from "./run-with-timeout.ts";

/** Maximum number of issues that are sent to the model. */
const MAX_ISSUES = 20;
/** Processor time of checking one answer, in milliseconds. */
const PARSE_MS = 1_000;

/** @returns for each value: the value with every declared field, or its issues in words for the model */
export type ParseAnswers = (values: readonly unknown[]) => ({ value: unknown } | { issues: string[] })[];

/**
 * Compiles a JSON Schema.
 * @param run limits the time of a check
 * @returns a function that completes values, or returns their issues; or why the schema cannot be used
 */
export function compileOutputSchema(
  schema: JsonSchema,
  run: typeof runWithTimeout = runWithTimeout,
): { parse: ParseAnswers } | { unusable: string } {
  const [unusable] = schemaIssues(schema);
  if (unusable !== undefined) return { unusable: issueText(unusable, "") };
  return {
    parse: (values) =>
      parseInTime(schema, values, run).map((parsed) =>
        "value" in parsed
          ? parsed
          : { issues: parsed.issues.slice(0, MAX_ISSUES).map((issue) => issueText(issue, "the answer")) },
      ),
  };
}

/** @throws StepError if it takes too long, which is a problem of the schema that the model can't fix, or if the machine is too busy */
function parseInTime(
  schema: JsonSchema,
  values: readonly unknown[],
  run: typeof runWithTimeout,
): ReturnType<typeof parseValue>[] {
  try {
    return run(PARSE_MS, () => values.map((value) => parseValue(schema, value)));
  } catch (error) {
    if (isTimeout(error)) throw tooSlow();
    throw error instanceof AppError && error.code === "busy" ? tooBusy(error) : error;
  }
}

const tooSlow = (): StepError =>
  new StepError("model_invalid_output", "The answer takes too long to check against output_schema.", {
    fix: "Simplify output_schema: use fewer nested alternatives.",
    transient: false,
  });

/** Not the code that makes the queue run the job again, whatever its `retry` says: the answer is paid for each time. */
const tooBusy = (cause: AppError): StepError =>
  new StepError(
    "model_invalid_output",
    "The answer was not checked against output_schema, because the machine is too busy.",
    { fix: "Try again. If the error remains, give the executor more processors.", cause },
  );

const issueText = (issue: { path?: PropertyKey[]; message: string }, whole: string): string =>
  `${formatPath(issue.path ?? []) || whole} ${issue.message}`.trimStart().slice(0, 500);

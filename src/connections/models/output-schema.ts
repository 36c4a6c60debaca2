/** Checks a model's answer against the JSON Schema of a workflow, with issues in words for the model. */
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
 * @returns a function that completes values, or returns their issues; or why the schema cannot be used
 */
export function compileOutputSchema(schema: JsonSchema): { parse: ParseAnswers } | { unusable: string } {
  const [unusable] = schemaIssues(schema);
  if (unusable !== undefined) return { unusable: issueText(unusable, "") };
  return {
    parse: (values) =>
      parseInTime(schema, values).map((parsed) =>
        "value" in parsed
          ? parsed
          : { issues: parsed.issues.slice(0, MAX_ISSUES).map((issue) => issueText(issue, "the answer")) },
      ),
  };
}

/** @throws StepError if it takes too long, which is a problem of the schema that the model can't fix; AppError busy */
function parseInTime(schema: JsonSchema, values: readonly unknown[]): ReturnType<typeof parseValue>[] {
  try {
    return runWithTimeout(PARSE_MS, () => values.map((value) => parseValue(schema, value)));
  } catch (error) {
    throw isTimeout(error) ? tooSlow() : error;
  }
}

const tooSlow = (): StepError =>
  new StepError("model_invalid_output", "The answer takes too long to check against output_schema.", {
    fix: "Simplify output_schema: use fewer nested alternatives.",
    transient: false,
  });

const issueText = (issue: { path?: PropertyKey[]; message: string }, whole: string): string =>
  `${formatPath(issue.path ?? []) || whole} ${issue.message}`.trimStart().slice(0, 500);

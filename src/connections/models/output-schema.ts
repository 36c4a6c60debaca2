/** Checks a model's answer against the JSON Schema of a workflow, with issues in words for the model. */
import { StepError } from "../../core/step-errors.ts";
import { formatPath } from "../../core/issues.ts";
import { type JsonSchema, parseValue, schemaIssues } from "../../core/json-schema/index.ts";

/** Maximum number of issues that are sent to the model. */
const MAX_ISSUES = 20;

/** @returns the answer with every declared field, or issues in words for the model */
export type ParseAnswer = (value: unknown) => { value: unknown } | { issues: string[] };

/**
 * Compiles a JSON Schema.
 * @returns a function that completes a value, or returns its issues; or why the schema cannot be used
 */
export function compileOutputSchema(schema: JsonSchema): { parse: ParseAnswer } | { unusable: string } {
  const [unusable] = schemaIssues(schema);
  if (unusable !== undefined) return { unusable: issueText(unusable, "") };
  return {
    parse(value) {
      const parsed = parseValue(schema, value);
      if ("value" in parsed) return parsed;
      const { issues } = parsed;
      // A problem of the schema, which the model cannot fix.
      if (issues.some((issue) => issue.code === "too_slow")) throw tooSlow();
      return { issues: issues.slice(0, MAX_ISSUES).map((issue) => issueText(issue, "the answer")) };
    },
  };
}

const tooSlow = (): StepError =>
  new StepError("model_invalid_output", "The answer takes too long to check against output_schema.", {
    fix: "Simplify output_schema: use fewer nested alternatives.",
    transient: false,
  });

const issueText = (issue: { path?: PropertyKey[]; message: string }, whole: string): string =>
  `${formatPath(issue.path ?? []) || whole} ${issue.message}`.trimStart().slice(0, 500);

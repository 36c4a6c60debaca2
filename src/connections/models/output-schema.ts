/** A workflow's JSON Schema for a model's answer, and what of an answer does not fit it, in words for the model. */
import { StepError } from "../../core/step-errors.ts";
import { formatPath } from "../../core/issues.ts";
import { type JsonSchema, schemaIssues, valueIssues } from "../../core/json-schema/index.ts";

/** So many faults help to repair an answer. */
const MAX_ISSUES = 20;

/**
 * The check of a JSON Schema.
 * @returns what tells the faults of a value, none when it fits; or why the schema can't be used
 */
export function compileOutputSchema(
  schema: JsonSchema,
): { issuesOf: (value: unknown) => string[] } | { unusable: string } {
  const [unusable] = schemaIssues(schema);
  if (unusable !== undefined) return { unusable: spoken(unusable, "") };
  return {
    issuesOf(value) {
      const issues = valueIssues(schema, value);
      // A matter of the schema, which the model can't mend.
      if (issues.some((issue) => issue.code === "too_slow")) throw tooSlow();
      return issues.slice(0, MAX_ISSUES).map((issue) => spoken(issue, "the whole"));
    },
  };
}

const tooSlow = (): StepError =>
  new StepError("model_invalid_output", "The answer takes too long to check against output_schema.", {
    fix: "Write output_schema more simply: fewer alternatives within alternatives.",
    transient: false,
  });

const spoken = (issue: { path?: PropertyKey[]; message: string }, whole: string): string =>
  `${formatPath(issue.path ?? []) || whole} ${issue.message}`.trimStart().slice(0, 500);

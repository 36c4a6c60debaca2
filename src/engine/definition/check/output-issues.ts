/** Checks the output of a definition, also against its own `output_schema`. */
import {
  type JsonSchema,
  schemaIssues,
  shapeIssues,
  shapeOfSchema,
  templateValueIssues,
} from "../../../core/json-schema/index.ts";
import { ANY, type Shape } from "../../../core/shapes.ts";
import { checkValueAsync } from "../expressions/index.ts";
import { type LocatedIssue, prefixPath } from "./check-report.ts";
import type { CheckedSteps } from "./check-steps.ts";
import type { ParsedDefinition } from "./schema-check.ts";
import { defaultOutputShape } from "./step-shapes.ts";

type Written = Readonly<Record<string, unknown>>;

export interface CheckedOutput {
  issues: LocatedIssue[];
  /** The shape that callers can rely on: that of `output_schema`, else of the output. */
  shape: Shape;
}

export async function checkOutput(
  written: Written,
  { typeOutputs, scopes }: CheckedSteps,
  { steps }: ParsedDefinition,
  yieldToEventLoop: () => Promise<void>,
): Promise<CheckedOutput> {
  const { output, output_schema: schema } = written;
  if (output === undefined) {
    const last = steps.at(-1);
    const shape = last === undefined ? ANY : defaultOutputShape(last.raw, typeOutputs.at(-1)!);
    return withSchema(schema, { shape, issues: [] }, (usable) =>
      shapeIssues(usable, shape, usable).map(({ path = [], ...issue }) =>
        Object.assign(issue, {
          path: ["output_schema"],
          message: `must fit the output of the last step: ${[path.join("."), issue.message].filter(Boolean).join(" ")}`,
        }),
      ),
    );
  }
  const checked = await checkValueAsync(output, scopes.ofOutput(), yieldToEventLoop);
  const issues = checked.issues.map((issue) => prefixPath(["output"], issue));
  // The shape of an output with issues is not known.
  const unfit = (usable: JsonSchema): LocatedIssue[] =>
    issues.length > 0
      ? []
      : templateValueIssues(usable, output, checked.shape).map((issue) => prefixPath(["output"], issue));
  return withSchema(schema, { shape: checked.shape, issues }, unfit);
}

function withSchema(
  schema: unknown,
  { shape, issues }: CheckedOutput,
  unfit: (schema: JsonSchema) => LocatedIssue[],
): CheckedOutput {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return { shape, issues };
  const found = schemaIssues(schema).map((issue) => prefixPath(["output_schema"], issue));
  if (found.length > 0) return { shape, issues: [...issues, ...found] };
  const usable = schema as JsonSchema;
  return { shape: shapeOfSchema(usable), issues: [...issues, ...unfit(usable)] };
}

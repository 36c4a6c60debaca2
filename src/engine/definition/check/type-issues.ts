/** The issues of an expression that returns a value of the wrong type. */
import type { Shape } from "../../../core/shapes.ts";
import type { CheckResult } from "../expressions/types.ts";
import { hasErrors } from "./check-report.ts";
import { withConversion } from "../fixes/type-fixes.ts";
import { describeKind } from "./shape-fit.ts";

/** The kinds that a condition accepts: null counts as false. */
const CONDITION_KINDS: ReadonlySet<Shape["kind"]> = new Set(["any", "null", "boolean"]);

/**
 * Adds the issues of its type to those of an expression. A type that was found in spite of an error is uncertain.
 * @param value the expression as it was written
 */
export const withTypeIssues = (
  { issues, shape }: CheckResult,
  typeIssues: CheckResult["issues"],
  value: unknown,
): CheckResult["issues"] =>
  hasErrors(issues) ? issues : [...issues, ...typeIssues.map((issue) => withConversion(issue, value, shape))];

/** The issue of a condition that returns no boolean. */
export const conditionTypeIssues = (shape: Shape): CheckResult["issues"] =>
  CONDITION_KINDS.has(shape.kind) ? [] : [wrongType("boolean", shape)];

export const wrongType = (expected: "boolean" | "list", shape: Shape) => ({
  code: "wrong_type",
  message: `must be a ${expected}, but the expression returns ${describeKind(shape)}`,
  subject: expected,
  ...(expected === "boolean" && { fix: "Compare it with a value, for example > 0 or != null." }),
});

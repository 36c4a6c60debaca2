/** Checks the `undo` of steps: a step of its own that reads the output of the step that it undoes. */
import type { LocatedIssue } from "./check-report.ts";
import { fieldScope, type NestedCheck, nestedIssues } from "./nested-issues.ts";
import type { ParsedStep } from "./schema-check.ts";
import { stepResultShape } from "./step-shapes.ts";

/** Reports an `undo` that has no effect, or that the step can't have. */
export function undoCombinationIssues({ raw, type, parsed }: ParsedStep, index: number): LocatedIssue[] {
  if (raw["undo"] === undefined) return [];
  const issues: LocatedIssue[] = [];
  if (type !== undefined && parsed !== undefined && !type.hasEffects(parsed))
    issues.push({
      path: ["steps", index, "undo"],
      code: "not_allowed",
      message: "has nothing to undo: this step has no effect outside of its run",
      fix: "Remove it, or move it to the step that has the effect.",
    });
  if (raw["cache"] !== undefined)
    issues.push({
      path: ["steps", index, "cache"],
      code: "not_allowed",
      message: "can't be combined with undo: another run would reuse an output whose effect may be undone",
      fix: "Remove cache, or remove undo.",
    });
  return issues;
}

/** Checks the expressions of an `undo`, and what its type checks. */
export async function undoIssues(
  step: ParsedStep,
  index: number,
  check: NestedCheck,
): Promise<LocatedIssue[]> {
  if (step.undo === undefined) return [];
  const result = stepResultShape({}, check.output);
  const scope = { ...fieldScope(step, check.scope), result, resultOf: step.id };
  const { parsed } = step;
  // It runs after the step that it undoes.
  const earlierSteps = () => [...check.earlierSteps(), ...(parsed === undefined ? [] : [parsed])];
  const { issues } = await nestedIssues(step.undo, ["steps", index, "undo"], scope, {
    ...check,
    earlierSteps,
  });
  return issues;
}

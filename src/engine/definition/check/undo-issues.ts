/** Checks the `undo` of steps: a step of its own that reads the output of the step that it undoes. */
import { ANY, type Shape } from "../../../core/shapes.ts";
import { checkCel } from "../expressions/index.ts";
import type { TypeScope } from "../expressions/types.ts";
import { type LocatedIssue, prefixPath } from "./check-report.ts";
import type { UnresolvedStep } from "../../../core/step-type.ts";
import type { ResourceChecker } from "./resource-checks.ts";
import type { ParsedStep } from "./schema-check.ts";
import { checkStepExpressions } from "./step-issues.ts";
import { INDEX_SHAPE, itemShape, stepResultShape } from "./step-shapes.ts";

type Raw = ParsedStep["raw"];

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

interface UndoCheck {
  scope: TypeScope;
  /** The output of the step by its type. */
  output: Shape;
  resources: ResourceChecker;
  /** Returns the steps that have certainly ended before the step is undone. */
  earlierSteps: () => UnresolvedStep[];
  yieldToEventLoop: () => Promise<void>;
}

/** Checks the expressions of an `undo`, and what its type checks. */
export async function undoIssues(
  step: ParsedStep,
  index: number,
  { scope, output, resources, earlierSteps, yieldToEventLoop }: UndoCheck,
): Promise<LocatedIssue[]> {
  const { undo, raw } = step;
  if (undo === undefined) return [];
  const { issues, fields } = await checkStepExpressions(
    undo,
    index,
    { ...scope, ...itemScope(raw, scope), result: stepResultShape({}, output), resultOf: step.id },
    undo.type?.output ?? ANY,
    yieldToEventLoop,
  );
  const found = issues.map((issue) =>
    Object.assign({}, issue, { path: ["steps", index, "undo", ...issue.path.slice(2)] }),
  );
  if (undo.parsed === undefined || undo.type?.check === undefined) return found;
  const reported = new Set(found.map(({ path }) => String(path[3])));
  const { issues: typeIssues } = await resources.check(undo, fields, earlierSteps);
  const others = typeIssues.filter(({ path = [] }) => !reported.has(String(path[0])));
  return [...found, ...others.map((issue) => prefixPath(["steps", index, "undo"], issue))];
}

/** What the step reads as `item` and `index`, or as `loop`. */
function itemScope(raw: Raw, scope: TypeScope): Pick<TypeScope, "item" | "index" | "loop"> {
  const { for_each: list, repeat } = raw;
  if (list === undefined) return repeat === undefined ? {} : { loop: ANY };
  const shape = typeof list === "string" || typeof list === "boolean" ? checkCel(list, scope).shape : ANY;
  return { item: itemShape(shape), index: INDEX_SHAPE };
}

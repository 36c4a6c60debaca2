/** Checks the steps inside of steps: their expressions, and what their types check. */
import { ANY, type Shape } from "../../../core/shapes.ts";
import type { StepCheck, UnresolvedStep } from "../../../core/step-type.ts";
import type { NestedField } from "../definition-schema.ts";
import { checkCel, factsOfCondition, withFacts } from "../expressions/index.ts";
import type { TypeScope } from "../expressions/types.ts";
import { type LocatedIssue, prefixPath } from "./check-report.ts";
import type { ResourceChecker } from "./resource-checks.ts";
import type { ParsedStep } from "./schema-check.ts";
import { checkStepExpressions } from "./step-issues.ts";
import { INDEX_SHAPE, itemShape } from "./step-shapes.ts";

export interface NestedCheck {
  /** That of the step, without its items or iterations. */
  scope: TypeScope;
  /** The output of the step by its type. */
  output: Shape;
  resources: ResourceChecker;
  /** Returns the steps that have certainly ended before the nested one runs. */
  earlierSteps: () => UnresolvedStep[];
  yieldToEventLoop: () => Promise<void>;
}

/**
 * Checks the fields of a nested step that its type has.
 * @param scope what they read
 * @returns what its type found too, beside its issues
 */
export async function nestedIssues(
  nested: ParsedStep,
  path: readonly ["steps", number, NestedField],
  scope: TypeScope,
  { resources, earlierSteps, yieldToEventLoop }: Omit<NestedCheck, "scope" | "output">,
): Promise<Omit<StepCheck, "issues"> & { issues: LocatedIssue[] }> {
  const { issues, fields } = await checkStepExpressions(
    nested,
    path[1],
    scope,
    nested.type?.output ?? ANY,
    yieldToEventLoop,
  );
  const found = issues.map((issue) => Object.assign({}, issue, { path: [...path, ...issue.path.slice(2)] }));
  if (nested.parsed === undefined || nested.type?.check === undefined) return { issues: found };
  const reported = new Set(found.map(({ path: at }) => String(at[3])));
  const result = await resources.check(nested, fields, earlierSteps);
  const others = result.issues.filter(({ path: at = [] }) => !reported.has(String(at[0])));
  return { ...result, issues: [...found, ...others.map((issue) => prefixPath(path, issue))] };
}

/** What the fields of a step read: the scope of the step, with `item` and `index`, or `loop`. */
export function fieldScope({ raw }: ParsedStep, scope: TypeScope): TypeScope {
  const { if: condition, for_each: list, repeat } = raw;
  const outer = condition === undefined ? scope : withFacts(scope, factsOfCondition(condition));
  if (list === undefined) return repeat === undefined ? outer : { ...outer, loop: ANY };
  const shape = typeof list === "string" || typeof list === "boolean" ? checkCel(list, outer).shape : ANY;
  return { ...outer, item: itemShape(shape), index: INDEX_SHAPE };
}

/**
 * Evaluates a definition with the mocked outputs of steps. The outputs of steps that only compute are known without mocks, and
 * so are those of skipped steps. Where a value is not known, `not_evaluated` says why.
 */
import { compileCel, compileValue, type Scope } from "../expressions/index.ts";
import { skippedOutput } from "../step-value.ts";
import type { LocatedIssue, Preview } from "./check-report.ts";
import { previewEvaluator, Unknown, unknownBecause, View } from "./preview-evaluator.ts";
import {
  mockOfEachItem,
  mockValue,
  type PreviewStep,
  stepPreviewer,
  type Values,
  valuedStep,
} from "./preview-step.ts";

export interface PreviewTask {
  steps: PreviewStep[];
  /** The `output` of the definition as the only item; empty if it has none. */
  output: unknown[];
  scope: Omit<Scope, "steps">;
  /** Outputs by step id. */
  mocks: Readonly<Record<string, unknown>>;
}

export interface PreviewResult {
  preview: Preview;
  issues: LocatedIssue[];
}

export function evaluatePreview({ steps, output, scope: runScope, mocks }: PreviewTask): PreviewResult {
  const evaluator = previewEvaluator();
  const { known, unknown } = evaluator.steps;
  const scope: Scope = { ...runScope, steps: known };
  const previewer = stepPreviewer(evaluator, scope);

  function previewStep(step: PreviewStep): Values {
    const isMocked = Object.hasOwn(mocks, step.id);
    const eachItem = isMocked ? mockOfEachItem(step, mocks[step.id]) : undefined;
    const mocked = isMocked && eachItem === undefined ? mockValue(step, mocks[step.id]) : undefined;
    const condition = conditionOf(step);
    const head = new View();
    if (step.step["if"] !== undefined) head.add("if", condition);
    // Nothing that fails in a step that may be skipped is an issue.
    const { view, value } = previewer.preview(step, mocked, { isQuiet: condition !== true, eachItem });
    const end = mocked ?? (condition === true ? value : skippedOr(step, condition, value));
    if (end instanceof Unknown) unknown.set(step.id, end);
    else known[step.id] = end;
    return View.joined(head, view).shown();
  }

  /** True, false, or why it is not known. */
  function conditionOf({ index, step: { if: condition } }: PreviewStep): boolean | Unknown {
    if (condition === undefined) return true;
    const options = { path: ["steps", index, "if"], scope, isQuiet: false };
    const value = evaluator.evaluate(() => compileCel(condition as string | boolean), options);
    if (value instanceof Unknown || typeof value === "boolean") return value;
    return value === null ? false : new Unknown("must be true or false");
  }

  const end = new View();
  const previewed: Record<string, unknown> = {};
  for (const step of steps) {
    const obstacle = evaluator.obstacle();
    if (obstacle !== undefined) {
      end.add("steps", new Unknown(`from ${step.id} on nothing was evaluated, because ${obstacle}`));
      break;
    }
    previewed[step.id] = previewStep(step);
  }
  const options = { path: ["output"], scope, isQuiet: false };
  if (output.length > 0)
    end.add(
      "output",
      evaluator.evaluate(() => compileValue(output[0]), options),
    );
  return { preview: { steps: previewed, ...end.shown() }, issues: distinct(evaluator.allIssues()) };
}

/** The value of a step whose condition is not true. */
function skippedOr(step: PreviewStep, condition: false | Unknown, value: Values | Unknown): Values | Unknown {
  if (condition === false) return { ...skippedOutput(valuedStep(step)), status: "skipped", error: null };
  return unknownBecause(value instanceof Unknown ? [condition, value] : [condition]);
}

/** Removes duplicates: every item of a fan-out may fail in the same way. */
function distinct(issues: readonly LocatedIssue[]): LocatedIssue[] {
  const first = new Map(
    issues.toReversed().map((issue) => [JSON.stringify([issue.path, issue.message]), issue]),
  );
  return [...first.values()].toReversed();
}

/** Evaluates the expressions of a definition with the mocked outputs of steps. */
import { AppError } from "../../../core/errors.ts";
import { StepError } from "../../../core/step-errors.ts";
import {
  compileCel,
  compileValue,
  type Compiled,
  ExpressionError,
  MAX_EXPRESSION_COST,
  type Scope,
} from "../expressions/index.ts";
import type { Repeat } from "../../../../schemas/repeat.ts";
import { prefixPath, type LocatedIssue, MAX_ISSUES, type Preview } from "./check-report.ts";

interface PreviewStep {
  id: string;
  /** Its position in the definition. */
  index: number;
  if?: string | boolean | undefined;
  for_each?: string | boolean | undefined;
  repeat?: Pick<Repeat, "until" | "with"> | undefined;
  /** The fields of its type, unresolved. */
  fields: {
    name: string;
    kind: "literal" | "template" | "cel";
    value: unknown;
    encoding?: "url" | undefined;
  }[];
}

export interface PreviewTask {
  steps: PreviewStep[];
  /** The `output` of the definition as the only item; empty if it has none. */
  output: unknown[];
  /** `steps` has the mocked steps only. */
  scope: Scope;
}

export interface PreviewResult {
  preview: Preview;
  issues: LocatedIssue[];
}

/** Maximum number of items or iterations that are evaluated. */
const MAX_ITEMS = 10;
/** Maximum size of all results together, in characters of JSON. */
const MAX_SIZE = 4 * 1024 * 1024;

/** Maximum work of all expressions together: 3 s of processor time. */
const MAX_WORK = 3 * MAX_EXPRESSION_COST;

const UNKNOWN = Symbol("unknown");

export function evaluatePreview({ steps, output, scope }: PreviewTask): PreviewResult {
  const issues: LocatedIssue[] = [];
  const result: Preview = { steps: {} };
  let size = 0;
  let full = false;
  let remainingWork = MAX_WORK;

  /** Returns UNKNOWN if the expression fails or reads a step that is not mocked. */
  function evaluate(compile: () => Compiled, path: PropertyKey[], itemScope: Scope): unknown {
    try {
      const compiled = compile();
      for (const id of compiled.stepIds) if (!Object.hasOwn(scope.steps, id)) return UNKNOWN;
      const { value, cost } = compiled.measure(itemScope, Math.min(MAX_EXPRESSION_COST, remainingWork));
      remainingWork -= cost;
      size += JSON.stringify(value)?.length ?? 0;
      full ||= size > MAX_SIZE;
      return value;
    } catch (error) {
      if (error instanceof ExpressionError) remainingWork -= error.cost;
      issues.push(...failure(error, path));
      return UNKNOWN;
    }
  }

  function resolve({ index, fields }: PreviewStep, itemScope: Scope): Record<string, unknown> {
    const resolved: Record<string, unknown> = {};
    for (const { name, kind, value: written, encoding } of fields) {
      const path = ["steps", index, name];
      const compile = (): Compiled =>
        kind === "cel" ? compileCel(written as string) : compileValue(written, { encoding });
      const value = kind === "literal" ? written : evaluate(compile, path, itemScope);
      if (value !== UNKNOWN) resolved[name] = value;
    }
    return resolved;
  }

  function previewStep(step: PreviewStep): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    if (step.if !== undefined) {
      const condition = evaluate(() => compileCel(step.if!), ["steps", step.index, "if"], scope);
      if (condition !== UNKNOWN) values["if"] = condition;
      if (condition === false || condition === null) return values;
    }
    if (step.repeat !== undefined) return { ...values, items: previewIterations(step, step.repeat) };
    if (step.for_each === undefined) return { ...values, ...resolve(step, scope) };
    const path = ["steps", step.index, "for_each"];
    const list = evaluate(() => compileCel(step.for_each!), path, scope);
    if (list === UNKNOWN) return values;
    if (!Array.isArray(list)) {
      issues.push({ path, code: "wrong_type", message: "must be a list" });
      return values;
    }
    const items = list
      .slice(0, MAX_ITEMS)
      .map((item: unknown, index) => resolve(step, { ...scope, item, index }));
    return { ...values, count: list.length, items };
  }

  /** Evaluates the first iteration, and as many as the mock of the step has. */
  function previewIterations(
    step: PreviewStep,
    { until, with: variables = {} }: NonNullable<PreviewStep["repeat"]>,
  ): Record<string, unknown>[] {
    const path = ["steps", step.index, "repeat"];
    const { items } = (scope.steps[step.id] ?? {}) as { items?: unknown };
    const results = Array.isArray(items) ? items.slice(0, MAX_ITEMS) : [];
    const evaluateAll = (which: "start" | "next", inner: Scope): Record<string, unknown> => {
      const values = Object.entries(variables).map(([name, variable]) => {
        const compile = (): Compiled =>
          which === "start" ? compileValue(variable.start) : compileCel(variable.next);
        return [name, evaluate(compile, [...path, "with", name, which], inner)] as const;
      });
      return Object.fromEntries(values.filter(([, value]) => value !== UNKNOWN));
    };
    const iterations: Record<string, unknown>[] = [];
    let loop: Record<string, unknown> = { ...evaluateAll("start", scope), index: 0 };
    for (let index = 0; index < Math.max(1, results.length); index += 1) {
      const iteration: Record<string, unknown> = { loop, ...resolve(step, { ...scope, loop }) };
      iterations.push(iteration);
      if (index >= results.length) break;
      const inner = { ...scope, loop, result: withStatus(results[index]) };
      const done =
        until === undefined ? UNKNOWN : evaluate(() => compileCel(until), [...path, "until"], inner);
      if (done !== UNKNOWN) iteration["until"] = done;
      if (done === true) break;
      loop = { ...evaluateAll("next", inner), index: index + 1 };
    }
    return iterations;
  }

  for (const step of steps) {
    if (full || remainingWork <= 0 || issues.length >= MAX_ISSUES) break;
    result.steps[step.id] = previewStep(step);
  }
  if (!full && remainingWork > 0 && output.length > 0) {
    const value = evaluate(() => compileValue(output[0]), ["output"], scope);
    if (value !== UNKNOWN) result.output = value;
  }
  if (full)
    issues.push({
      path: ["mocks"],
      code: "too_large",
      message: `produce results of more than ${MAX_SIZE / 1024} KiB`,
      fix: "Mock fewer steps, or use smaller outputs.",
    });
  return { preview: result, issues: distinct(issues) };
}

/** Adds the status that expressions read: a mock with an error is that of a failed step. */
export function withStatus(mock: unknown): Record<string, unknown> {
  const fields = (typeof mock === "object" && mock !== null ? mock : {}) as { error?: unknown };
  const error = fields.error ?? null;
  return { ...fields, status: error === null ? "succeeded" : "failed", error };
}

function failure(error: unknown, path: PropertyKey[]): LocatedIssue[] {
  // The checker has reported expressions that do not compile.
  if (error instanceof AppError) return [];
  if (!(error instanceof StepError)) throw error;
  const { code, message, options } = error;
  const issue = { code, message, ...(options.fix !== undefined && { fix: options.fix }) };
  return [prefixPath(path, issue)];
}

/** Removes duplicates: every item of a fan-out may fail in the same way. */
function distinct(issues: readonly LocatedIssue[]): LocatedIssue[] {
  const first = new Map(
    issues.toReversed().map((issue) => [JSON.stringify([issue.path, issue.message]), issue]),
  );
  return [...first.values()].toReversed();
}

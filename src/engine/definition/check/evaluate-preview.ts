/** What the expressions of a definition give where the outputs of steps are known. */
import { AppError } from "../../../core/errors.ts";
import { StepError } from "../../../core/step-errors.ts";
import { compileCel, compileValue, type Compiled, type Scope } from "../expressions/index.ts";
import { prefixPath, type LocatedIssue, MAX_ISSUES, type Preview } from "./check-report.ts";

interface PreviewStep {
  id: string;
  /** Its position in the definition. */
  index: number;
  if?: string | boolean | undefined;
  for_each?: string | boolean | undefined;
  /** The fields of its type, as they are written. */
  fields: { name: string; kind: "literal" | "template" | "cel"; value: unknown }[];
}

export interface PreviewTask {
  steps: PreviewStep[];
  /** The definition's output, in a list of its own so that there can be none. */
  output: unknown[];
  /** `steps` are those that are known. */
  scope: Scope;
}

export interface PreviewResult {
  preview: Preview;
  issues: LocatedIssue[];
}

/** Items of a fan-out that are shown. */
const MOST_ITEMS = 10;
/** All results together, as JSON text. */
const LARGEST = 4 * 1024 * 1024;

const UNKNOWN = Symbol("unknown");

export function evaluatePreview({ steps, output, scope }: PreviewTask): PreviewResult {
  const issues: LocatedIssue[] = [];
  const result: Preview = { steps: {} };
  let size = 0;
  let full = false;

  /** The value, or UNKNOWN where it reads a step that is not known, or fails. */
  function value(compile: () => Compiled, path: PropertyKey[], within: Scope): unknown {
    try {
      const compiled = compile();
      for (const id of compiled.stepIds) if (!Object.hasOwn(scope.steps, id)) return UNKNOWN;
      const found = compiled.evaluate(within);
      size += JSON.stringify(found)?.length ?? 0;
      full ||= size > LARGEST;
      return found;
    } catch (error) {
      issues.push(...failure(error, path));
      return UNKNOWN;
    }
  }

  function resolve({ index, fields }: PreviewStep, within: Scope): Record<string, unknown> {
    const resolved: Record<string, unknown> = {};
    for (const { name, kind, value: written } of fields) {
      const path = ["steps", index, name];
      const compile = (): Compiled =>
        kind === "cel" ? compileCel(written as string) : compileValue(written);
      const found = kind === "literal" ? written : value(compile, path, within);
      if (found !== UNKNOWN) resolved[name] = found;
    }
    return resolved;
  }

  function show(step: PreviewStep): Record<string, unknown> {
    const shown: Record<string, unknown> = {};
    if (step.if !== undefined) {
      const holds = value(() => compileCel(step.if!), ["steps", step.index, "if"], scope);
      if (holds !== UNKNOWN) shown["if"] = holds;
      if (holds === false || holds === null) return shown;
    }
    if (step.for_each === undefined) return { ...shown, ...resolve(step, scope) };
    const path = ["steps", step.index, "for_each"];
    const list = value(() => compileCel(step.for_each!), path, scope);
    if (list === UNKNOWN) return shown;
    if (!Array.isArray(list)) {
      issues.push({ path, code: "wrong_type", message: "must give a list" });
      return shown;
    }
    const items = list
      .slice(0, MOST_ITEMS)
      .map((item: unknown, index) => resolve(step, { ...scope, item, index }));
    return { ...shown, count: list.length, items };
  }

  for (const step of steps) {
    if (full || issues.length >= MAX_ISSUES) break;
    result.steps[step.id] = show(step);
  }
  if (!full && output.length > 0) {
    const found = value(() => compileValue(output[0]), ["output"], scope);
    if (found !== UNKNOWN) result.output = found;
  }
  if (full)
    issues.push({
      path: ["mocks"],
      code: "too_large",
      message: `make results of more than ${LARGEST / 1024} KiB`,
    });
  return { preview: result, issues: distinct(issues) };
}

function failure(error: unknown, path: PropertyKey[]): LocatedIssue[] {
  // What can't be compiled has been told by the checker already.
  if (error instanceof AppError) return [];
  if (!(error instanceof StepError)) throw error;
  const { code, message, options } = error;
  const issue = { code, message, ...(options.fix !== undefined && { fix: options.fix }) };
  return [prefixPath(path, issue)];
}

/** Each item of a fan-out may fail alike. */
function distinct(issues: readonly LocatedIssue[]): LocatedIssue[] {
  const first = new Map(
    issues.toReversed().map((issue) => [JSON.stringify([issue.path, issue.message]), issue]),
  );
  return [...first.values()].toReversed();
}

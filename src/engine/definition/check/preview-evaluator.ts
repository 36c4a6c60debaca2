/** Evaluates the expressions of a preview within limits, and says why where a value can't be known. */
import { AppError } from "../../../core/errors.ts";
import { StepError } from "../../../core/step-errors.ts";
import { type Compiled, ExpressionError, MAX_EXPRESSION_COST, type Scope } from "../expressions/index.ts";
import { type LocatedIssue, MAX_ISSUES, prefixPath } from "./check-report.ts";

/** Maximum size of all results together, in characters of JSON. */
const MAX_SIZE = 4 * 1024 * 1024;
/** Maximum work of all expressions together: 3 s of processor time. */
const MAX_WORK = 3 * MAX_EXPRESSION_COST;

const TOO_LARGE: LocatedIssue = {
  path: ["mocks"],
  code: "too_large",
  message: `produce results of more than ${MAX_SIZE / 1024} KiB`,
  fix: "Mock fewer steps, or use smaller outputs.",
};

/** In the place of a value that can't be known without a run. */
export class Unknown {
  readonly reason: string;
  /** The steps whose outputs would make it known, if they were mocked. */
  readonly stepIds: readonly string[];

  constructor(reason: string, stepIds: readonly string[] = []) {
    this.reason = reason;
    this.stepIds = stepIds;
  }
}

/** A value that needs the outputs of steps which only a run has. */
export const needsOutputs = (stepIds: readonly string[]): Unknown =>
  new Unknown(`needs the output of ${stepIds.join(", ")}: add it to mocks`, stepIds);

/** A value that can't be known because of all of these. */
export function unknownBecause(causes: readonly Unknown[]): Unknown {
  const stepIds = [...new Set(causes.flatMap((cause) => cause.stepIds))];
  return causes.find((cause) => cause.stepIds.length === 0) ?? needsOutputs(stepIds);
}

/** Values to show, and why others are not known. */
export class View {
  readonly #shown: Record<string, unknown> = {};
  readonly #unknown = new Map<string, Unknown>();

  /** Everything that these have. */
  static joined(...views: readonly View[]): View {
    const joined = new View();
    for (const view of views) {
      Object.assign(joined.#shown, view.#shown);
      for (const [name, value] of view.#unknown) joined.#unknown.set(name, value);
    }
    return joined;
  }

  add(name: string, value: unknown): void {
    if (value instanceof Unknown) this.#unknown.set(name, value);
    else this.#shown[name] = value;
  }

  /** The values; the reason if one of them is not known. */
  values(): Record<string, unknown> | Unknown {
    return this.#unknown.size === 0 ? this.#shown : unknownBecause([...this.#unknown.values()]);
  }

  /** The values that are known, with the reasons in `not_evaluated`. */
  shown(): Record<string, unknown> {
    if (this.#unknown.size === 0) return this.#shown;
    const reasons = [...this.#unknown].map(([name, { reason }]) => [name, reason] as const);
    return { ...this.#shown, not_evaluated: Object.fromEntries(reasons) };
  }
}

/** What an expression may read that is not the same for the whole run, with the reason where there is none. */
const LOCAL_NAMES = {
  item: "needs an item of for_each",
  index: "needs an item of for_each",
  loop: "needs the variables of the loop",
  result: "needs the output of the step itself: add it to mocks",
  idempotency_key: "needs the key of an attempt, which only a run has",
} as const;

interface EvaluateOptions {
  path: PropertyKey[];
  scope: Scope;
  /** Whether a failure is no issue, because the step may not run. */
  isQuiet: boolean;
}

export interface PreviewEvaluator {
  issues: LocatedIssue[];
  /** The values of the steps that are known, and why others are not. */
  steps: { known: Record<string, unknown>; unknown: Map<string, Unknown> };
  evaluate(compile: () => Compiled, options: EvaluateOptions): unknown;
  /** Why nothing more is evaluated; undefined as long as the limits are not reached. */
  obstacle(): string | undefined;
  /** With the issue of results that are too large. */
  allIssues(): LocatedIssue[];
}

export function previewEvaluator(): PreviewEvaluator {
  const issues: LocatedIssue[] = [];
  const known: Record<string, unknown> = {};
  const unknown = new Map<string, Unknown>();
  let size = 0;
  let remainingWork = MAX_WORK;

  function missingOf({ stepIds, names }: Compiled, scope: Scope): Unknown | undefined {
    const missing = [...stepIds]
      .filter((id) => !Object.hasOwn(known, id))
      .map((id) => unknown.get(id) ?? new Unknown(`reads ${id}, which does not end before`));
    for (const [name, reason] of Object.entries(LOCAL_NAMES))
      if (names.has(name) && scope[name as keyof typeof LOCAL_NAMES] === undefined)
        missing.push(new Unknown(reason));
    return missing.length === 0 ? undefined : unknownBecause(missing);
  }

  const isTooLarge = (): boolean => size > MAX_SIZE;
  function obstacle(): string | undefined {
    if (isTooLarge()) return "the results before are too large";
    if (remainingWork <= 0) return "the expressions before took all the work that a preview may take";
    return issues.length >= MAX_ISSUES ? "there are too many issues before" : undefined;
  }

  return {
    issues,
    steps: { known, unknown },
    obstacle,
    allIssues: () => (isTooLarge() ? [...issues, TOO_LARGE] : issues),
    evaluate(compile, { path, scope, isQuiet }) {
      const reached = obstacle();
      if (reached !== undefined) return new Unknown(`was not evaluated, because ${reached}`);
      try {
        const compiled = compile();
        const missing = missingOf(compiled, scope);
        if (missing !== undefined) return missing;
        const { value, cost } = compiled.measure(scope, Math.min(MAX_EXPRESSION_COST, remainingWork));
        remainingWork -= cost;
        size += JSON.stringify(value)?.length ?? 0;
        return value;
      } catch (error) {
        if (error instanceof ExpressionError) remainingWork -= error.cost;
        // The checker has reported expressions that do not compile.
        if (error instanceof AppError) return new Unknown("has an issue");
        if (!(error instanceof StepError)) throw error;
        const { code, message, options } = error;
        if (!isQuiet)
          issues.push(
            prefixPath(path, { code, message, ...(options.fix !== undefined && { fix: options.fix }) }),
          );
        return new Unknown(`fails: ${message}`);
      }
    },
  };
}

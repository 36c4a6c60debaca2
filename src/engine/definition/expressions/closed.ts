/**
 * Evaluates the parts of an expression that read nothing: they have the same value in every run. `[1, 2][5]`, `5 / 0` and
 * `timestamp("x")` fail in every run that evaluates them, so they are issues before any.
 */
import { compileBlock } from "./compile.ts";
import { startEvaluation } from "./evaluation-context.ts";
import type { CheckBudget } from "./check-names.ts";
import type { SyntaxNode } from "./cel-parser.ts";
import { ExpressionError, isFatal } from "./failures.ts";
import { MAX_EXPRESSION_OUTPUT } from "./limits.ts";
import type { Expr } from "./tree.ts";
import type { ExpressionIssue, Scope } from "./types.ts";

interface ClosedPart {
  expr: Expr;
  /** Whether it is evaluated whenever the whole expression is, and its failure is that of the whole. */
  isCertain: boolean;
}

interface Part {
  expr: Expr;
  /** Number of loops around it inside the expression. */
  depth: number;
  isCertain: boolean;
}

/** Returns the largest closed parts of an expression that compute something, in the order of the source. */
function closedParts(root: Expr): ClosedPart[] {
  const { lowest, found } = visit({ expr: root, depth: 0, isCertain: true });
  return lowest === Infinity && computes(root) ? [{ expr: root, isCertain: true }] : found;
}

/**
 * @returns lowest: the lowest slot of a loop variable that the part reads from outside of it, -1 if it reads anything
 *   else, and Infinity if it reads nothing
 */
function visit(part: Part): { lowest: number; found: ClosedPart[] } {
  const { expr, depth } = part;
  if (expr.kind === "name" || expr.kind === "step" || expr.kind === "invalid")
    return { lowest: -1, found: [] };
  if (expr.kind === "local") return { lowest: expr.slot, found: [] };
  const parts = operandsOf(part);
  const visited = parts.map((inner) => ({ inner, result: visit(inner) }));
  const lowest = Math.min(Infinity, ...visited.map(({ result }) => result.lowest));
  // A variable that a loop inside this part binds is none of its surroundings.
  const isClosed = lowest >= depth;
  if (isClosed) return { lowest: Infinity, found: [] };
  const found = visited.flatMap(({ inner, result }) =>
    result.lowest !== Infinity
      ? result.found
      : computes(inner.expr)
        ? [{ expr: inner.expr, isCertain: inner.isCertain }]
        : [],
  );
  return { lowest, found };
}

/** Whether evaluating the expression may fail. */
function computes(expr: Expr): boolean {
  switch (expr.kind) {
    case "literal":
      return false;
    case "list":
      return expr.items.some(computes);
    case "map":
      return expr.entries.flat().some(computes);
    default:
      return true;
  }
}

function operandsOf({ expr, depth, isCertain }: Part): Part[] {
  const same = (...inner: (Expr | undefined)[]): Part[] =>
    inner.flatMap((one) => (one === undefined ? [] : [{ expr: one, depth, isCertain }]));
  const perhaps = (levels: number, ...inner: (Expr | undefined)[]): Part[] =>
    inner.flatMap((one) =>
      one === undefined ? [] : [{ expr: one, depth: depth + levels, isCertain: false }],
    );
  switch (expr.kind) {
    case "field":
      return same(expr.of);
    case "index":
      return same(expr.of, expr.key);
    case "has":
      return same(expr.of, expr.key);
    case "list":
      return same(...expr.items);
    case "map":
      return same(...expr.entries.flat());
    case "not":
    case "negate":
      return same(expr.of);
    case "binary":
      return same(expr.left, expr.right);
    case "call":
      return same(...expr.args);
    // One side of && and || hides an error of the other.
    case "logic":
      return perhaps(0, expr.left, expr.right);
    case "default":
      return [...same(expr.left), ...perhaps(0, expr.right)];
    case "choice":
      return [...same(expr.condition), ...perhaps(0, expr.yes, expr.no)];
    case "loop": {
      const inside = expr.name === "map" ? perhaps(1, expr.body, expr.extra) : perhaps(1, expr.body);
      return [...same(expr.over), ...inside, ...(expr.name === "map" ? [] : same(expr.extra))];
    }
    default:
      return [];
  }
}

/** Maximum work of one closed part while checking, as charged to evaluations. Heavier parts are not evaluated. */
const MAX_WORK = 100_000;

/** Work that every evaluation counts for at least. */
const MIN_WORK = 50;

const NOTHING: Scope = { inputs: {}, run: {}, steps: {} };

/**
 * Returns the issues of the closed parts: errors where the whole expression always fails, warnings where it fails only if
 * it evaluates the part.
 * @param wrong the parts that an issue was reported for
 */
export function closedIssues(
  root: Expr,
  wrong: readonly SyntaxNode[],
  budget: CheckBudget,
): ExpressionIssue[] {
  return closedParts(root).flatMap(({ expr, isCertain }) => {
    const isReported = wrong.some(({ pos }) => pos >= expr.at.start && pos < expr.at.end);
    if (isReported || budget.closedWork <= 0) return [];
    const { error, work } = evaluateClosed(expr);
    budget.closedWork -= Math.max(work, MIN_WORK);
    return error === undefined ? [] : [alwaysFails(error, isCertain)];
  });
}

function alwaysFails({ summary, options: { fix } }: ExpressionError, isCertain: boolean): ExpressionIssue {
  return {
    code: "always_fails",
    message: `${isCertain ? "always fails" : "fails wherever it is evaluated"}: ${summary}`,
    ...(fix !== undefined && { fix }),
    ...(!isCertain && { severity: "warning" }),
  };
}

/** Evaluates a closed part. Returns the error that it always fails with, and the work that this took. */
function evaluateClosed(expr: Expr): { error?: ExpressionError; work: number } {
  const evaluation = startEvaluation(NOTHING, expr.at, MAX_EXPRESSION_OUTPUT, MAX_WORK);
  try {
    compileBlock(expr)(evaluation);
    return { work: evaluation.cost };
  } catch (error) {
    const work = evaluation.cost;
    // Its limits are tighter here, so that reaching one says nothing.
    if (error instanceof ExpressionError && error.code !== "expression_limit")
      return {
        error: (evaluation.detailedErrors.get(error)?.() as ExpressionError | undefined) ?? error,
        work,
      };
    if (isFatal(error) && !(error instanceof ExpressionError)) throw error;
    return { work };
  }
}

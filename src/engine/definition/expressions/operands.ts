/** The parts of a condition whose values explain why it is not true. */
import { type SyntaxNode, writeSyntax } from "./cel-parser.ts";
import { isEquality } from "./operators.ts";
import { parseCel, unwrapExpression } from "./parse.ts";
import type { Expr } from "./tree.ts";

/** Maximum number of operands that are named. */
const MAX_OPERANDS = 10;

interface Operands {
  /** The condition, without `${{ }}`. */
  expression: string;
  /** The source of each operand, at most `MAX_OPERANDS`, in the order in which they are written. */
  operands: string[];
  /** Number of all operands. */
  total: number;
}

/**
 * Names the operands of a condition: what its comparisons compare, and what its logic joins. Of `list.all(x, …)` that is the
 * list of the items for which it is false.
 * @returns undefined for a constant, and for a condition that does not parse
 */
export function operandsOfCondition(condition: unknown): Operands | undefined {
  if (typeof condition !== "string") return undefined;
  const bare = unwrapExpression(condition);
  const parsed = typeof bare === "string" ? parseCel(bare) : bare;
  if ("issues" in parsed) return undefined;
  const all = [...new Set(operandsIn(parsed.expr))];
  return { expression: parsed.source.trim(), operands: all.slice(0, MAX_OPERANDS), total: all.length };
}

function operandsIn(expr: Expr): string[] {
  switch (expr.kind) {
    case "literal":
      return [];
    case "logic":
      return [...operandsIn(expr.left), ...operandsIn(expr.right)];
    case "not":
      return operandsIn(expr.of);
    case "choice":
      return [expr.condition, expr.yes, expr.no].flatMap(operandsIn);
    case "binary":
      // The result of arithmetic is an operand too: it is what is compared.
      return isComparison(expr.op)
        ? [...operandsIn(expr.left), ...operandsIn(expr.right)]
        : [sourceOf(expr.at), ...operandsIn(expr.left), ...operandsIn(expr.right)];
    case "loop":
      return [expr.name === "all" ? counterexamples(expr.at) : sourceOf(expr.at)];
    default:
      return [sourceOf(expr.at)];
  }
}

const isComparison = (op: Extract<Expr, { kind: "binary" }>["op"]): boolean =>
  isEquality(op) || ["in", "<", "<=", ">", ">="].includes(op);

const sourceOf = (node: SyntaxNode): string => writeSyntax(node);

/** `rows.all(r, r.n > 0)` becomes `rows.filter(r, !(r.n > 0))`. */
function counterexamples(node: SyntaxNode): string {
  if (node.op !== "rcall") return sourceOf(node);
  const [, list, [variable, body]] = node.args;
  if (variable === undefined || body === undefined) return sourceOf(node);
  const receiver = node.input.slice(list.outerStart, list.outerEnd).replaceAll(/\s*\n\s*/g, " ");
  return `${receiver}.filter(${sourceOf(variable)}, !(${sourceOf(body)}))`;
}

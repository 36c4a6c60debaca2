/**
 * The work of the operators, reads and calls of an expression. It is known before the evaluation, apart from what a block
 * decides: the branches of a choice, the right sides of `&&`, `||` and `??`, and the bodies of loops. So each block charges
 * its work once, when it begins. Functions and loops charge for the values that they visit or create besides.
 */
import type { Expr } from "./tree.ts";

/** Work of one call, apart from that of its function: its arguments are collected and their kinds checked. */
const CALL_COST = 10;
/** Work of creating a list or an object, and of each of its parts. */
const CREATE_COST = 3;
const ENTRY_COST = 5;

/**
 * Returns the work of what is evaluated whenever the expression is.
 * @param isOptional whether it is the left side of `??`: what it reads is then a part of the same block, with its defaults
 */
export function blockCost(expr: Expr, isOptional = false): number {
  switch (expr.kind) {
    case "literal":
    case "invalid":
      return 0;
    case "name":
    case "step":
    case "local":
      return 1;
    case "field":
      return 2 + blockCost(expr.of, isOptional);
    case "index":
      return 3 + blockCost(expr.of, isOptional) + blockCost(expr.key);
    case "has":
      return 3 + sum([expr.of, expr.key]);
    case "list":
      return CREATE_COST + expr.items.length + sum(expr.items);
    case "map":
      return CREATE_COST + ENTRY_COST * expr.entries.length + sum(expr.entries.flat());
    case "not":
    case "negate":
      return 1 + blockCost(expr.of);
    case "binary":
      return 2 + sum([expr.left, expr.right]);
    case "call":
      return CALL_COST + (expr.fn.cost ?? 0) + sum(expr.args);
    case "logic":
      return 1 + blockCost(expr.left);
    case "default":
      return 1 + blockCost(expr.left, true) + (isOptional ? blockCost(expr.right, true) : 0);
    case "choice":
      return 1 + blockCost(expr.condition);
    case "loop":
      return (
        CREATE_COST +
        blockCost(expr.over) +
        // The direction is evaluated once, the condition of `map` for each item.
        (expr.name === "sort_by" && expr.extra !== undefined ? blockCost(expr.extra) : 0)
      );
  }
}

const sum = (parts: readonly Expr[]): number => parts.reduce((total, part) => total + blockCost(part), 0);

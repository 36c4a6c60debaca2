/** Warns of values that may be null where null fails at run time. */
import type { Check } from "./check-names.ts";
import { isParenthesized } from "./cel-parser.ts";
import { formatNode } from "./failures.ts";
import { keyOf } from "./flow.ts";
import type { Expr } from "./tree.ts";
import type { Type } from "./typing.ts";

/** Maximum length of an expression that a fix repeats, in characters. */
const MAX_REPEATED = 100;

/** A literal of each kind that can stand in for null. */
const FALLBACKS: Readonly<Partial<Record<Type["kind"], string>>> = {
  string: "''",
  number: "0",
  boolean: "false",
  list: "[]",
  map: "{}",
  object: "{}",
};

const mayBeNull = ({ kind, nullable }: Type): boolean =>
  nullable === true && kind !== "any" && kind !== "null";

/** The expression as it can be written before an operator. */
const operandSource = ({ at, kind }: Expr): string => {
  const source = formatNode(at);
  return kind === "choice" || (kind === "default" && !isParenthesized(at)) ? `(${source})` : source;
};

/**
 * Warns if the value may be null.
 * @param action what the expression does to the value, around its source: ["passes", "to upper"]
 */
export function warnOfNull(
  expr: Expr,
  type: Type,
  [verb, rest]: readonly [string, string],
  context: Check,
): void {
  if (!mayBeNull(type) || wasReported(expr, context)) return;
  const source = operandSource(expr);
  const fallback = FALLBACKS[type.kind];
  const fix =
    source.length > MAX_REPEATED || fallback === undefined
      ? "Test the value for null first, or write a default for it with ??."
      : `Write (${source} ?? ${fallback}), or test it first: ${source} != null.`;
  const message =
    `${verb} ${formatNode(expr.at)}, which may be null,${rest === "" ? "" : ` ${rest}`}`.replace(/,$/, "");
  context.report("maybe_null", expr.at, message, { severity: "warning", fix });
}

/** Warns if an item of a list may be null. */
export function warnOfNullItems(expr: Expr, item: Type, called: string, context: Check): void {
  if (!mayBeNull(item) || wasReported(expr, context)) return;
  const source = operandSource(expr);
  const fallback = FALLBACKS[item.kind];
  const isMap = expr.kind === "loop" && expr.name === "map" && expr.extra === undefined;
  const body = isMap ? operandSource(expr.body) : "";
  const fix =
    source.length > MAX_REPEATED
      ? `Leave out the items that are null before ${called}, with filter(x, x != null).`
      : isMap && fallback !== undefined
        ? `Write ${body} ?? ${fallback} in the map, or leave out null: ${source}.filter(x, x != null).`
        : `Leave out null: ${source}.filter(x, x != null).`;
  const message = `passes ${formatNode(expr.at)}, whose items may be null, to ${called}`;
  context.report("maybe_null", expr.at, message, { severity: "warning", fix });
}

/** Whether the same value was reported for the same expression: one warning for it is enough. */
function wasReported(expr: Expr, { nullWarnings }: Check): boolean {
  const key = keyOf(expr);
  // Another loop may use the same variable for other values.
  if (key === undefined || key.includes("$")) return false;
  const was = nullWarnings.has(key);
  nullWarnings.add(key);
  return was;
}

/** Warns of `x ?? 0 > 5`, which means `x ?? (0 > 5)`: nobody who compares a literal with a value writes it first. */
export function warnOfPrecedence({ left, right }: Extract<Expr, { kind: "default" }>, context: Check): void {
  if ((right.kind !== "binary" && right.kind !== "logic") || isParenthesized(right.at)) return;
  const first = firstOperand(right);
  const isSum = right.kind === "binary" && ["+", "-", "*", "/", "%"].includes(right.op);
  if (first.kind !== "literal" || (isSum && right.right.kind === "literal")) return;
  const grouped = `(${formatNode(left.at)} ?? ${formatNode(first.at)})`;
  context.report(
    "precedence",
    right.at,
    `has ${formatNode(right.at)} as the default: ?? binds less tightly than ${right.op}`,
    {
      severity: "warning",
      fix: `Write ${grouped} ${right.op} …, or put parentheses around the default.`,
    },
  );
}

const firstOperand = (expr: Expr): Expr =>
  (expr.kind === "binary" || expr.kind === "logic") && !isParenthesized(expr.at)
    ? firstOperand(expr.left)
    : expr;

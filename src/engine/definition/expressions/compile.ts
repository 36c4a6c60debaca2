/** Compiles a resolved expression to closures, so that it is walked once and evaluated often. */
import { isLongNumber } from "../../../../schemas/long-numbers.ts";
import { throwFailed, isFatal, throwNullItem, throwNullValue, formatNode } from "./failures.ts";
import type { CallContext } from "./functions.ts";
import { blockCost } from "./block-cost.ts";
import { compileDefault, compileField, compileHas, compileIndex } from "./compile-access.ts";
import { compileLoop } from "./compile-loop.ts";
import { applyOperator, calculate, isEquality, joinTexts } from "./operators.ts";
import { charge, chargeComparison, chargeFailure } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";
import { fixOfItems, returnsText } from "./params.ts";
import type { Expr } from "./tree.ts";
import { addTimes } from "./exact-times.ts";
import { assertFinite, mapKey, kindOf, setField, Duration, describeKind, describeKinds } from "./values.ts";
import type { Fields } from "./values.ts";

export type Evaluate = (evaluation: Evaluation) => unknown;
type Of<K extends Expr["kind"]> = Extract<Expr, { kind: K }>;

/** Compiles an expression. The function throws StepErrors that quote it. */
function compile(expr: Expr): Evaluate {
  switch (expr.kind) {
    case "literal": {
      const { value } = expr;
      return () => value;
    }
    case "name":
      return compileName(expr);
    case "step":
      return compileStep(expr);
    case "local": {
      const { slot } = expr;
      return (evaluation) => evaluation.locals[slot];
    }
    case "field":
      return compileField(expr, compile);
    case "index":
      return compileIndex(expr, compile);
    case "list": {
      const items = expr.items.map(compile);
      return (evaluation) => items.map((item) => item(evaluation));
    }
    case "map":
      return compileMap(expr);
    case "logic":
      return compileLogic(expr);
    case "default":
      return compileDefault(expr, compile, compileBlock);
    case "not": {
      const of = compileCondition(expr.of);
      return (evaluation) => !of(evaluation);
    }
    case "negate":
      return compileNegate(expr);
    case "choice": {
      const [condition, yes, no] = [
        compileCondition(expr.condition),
        compileBlock(expr.yes),
        compileBlock(expr.no),
      ];
      return (evaluation) => (condition(evaluation) ? yes(evaluation) : no(evaluation));
    }
    case "binary":
      return compileBinary(expr);
    case "call":
      return compileCall(expr);
    case "loop":
      return compileLoop(expr, compile, compileCondition);
    case "has":
      return compileHas(expr, compile);
    default:
      throw new TypeError("An expression with issues can't be compiled");
  }
}

/** Compiles a part that is evaluated on its own, so that it charges for its operators, reads and calls. */
export function compileBlock(expr: Expr): Evaluate {
  const evaluate = compile(expr);
  const cost = blockCost(expr);
  if (cost === 0) return evaluate;
  return (evaluation) => {
    charge(evaluation, cost);
    return evaluate(evaluation);
  };
}

/** Compiles a condition: null counts as false, and any other value that is not a boolean fails. */
function compileCondition(
  expr: Expr,
  compilePart: (expr: Expr) => Evaluate = compile,
): (evaluation: Evaluation) => boolean {
  const evaluate = compilePart(expr);
  const { at } = expr;
  return (evaluation) => {
    const value = evaluate(evaluation);
    if (typeof value === "boolean") return value;
    if (value === null || value === undefined) return false;
    return throwFailed(
      at,
      `uses ${formatNode(at)} as a condition, expected a boolean, got ${describeKind(kindOf(value))}`,
      {
        fix: "Compare it with another value, or test its size.",
      },
    );
  };
}

function compileName({ at, name }: Of<"name">): Evaluate {
  return ({ scope }) =>
    Object.hasOwn(scope, name)
      ? (scope as unknown as Fields)[name]
      : throwFailed(at, `uses ${name}, which is not defined here`);
}

function compileStep({ at, id }: Of<"step">): Evaluate {
  return ({ scope }) =>
    Object.hasOwn(scope.steps, id)
      ? scope.steps[id]
      : throwFailed(at, `reads steps.${id}, which has no output here`);
}

function compileMap({ entries }: Of<"map">): Evaluate {
  const compiled = entries.map(([key, value]) => ({ at: key.at, key: compile(key), value: compile(value) }));
  return (evaluation) => {
    const map: Record<string, unknown> = {};
    for (const entry of compiled) {
      const key = entry.key(evaluation);
      if (key === null || key === undefined) throwNullValue(entry.at, formatNode(entry.at));
      const name =
        mapKey(key) ??
        throwFailed(entry.at, `uses ${describeKind(kindOf(key))} as a field name, expected text`);
      chargeComparison(evaluation, name.length);
      if (Object.hasOwn(map, name)) throwFailed(entry.at, `defines the field ${formatNode(entry.at)} twice`);
      setField(map, name, entry.value(evaluation));
    }
    return map;
  };
}

/**
 * Compiles CEL's && and ||: if one side decides the result, an error of the other is ignored.
 * https://github.com/google/cel-spec/blob/master/doc/langdef.md#logical-operators
 */
function compileLogic(expr: Of<"logic">): Evaluate {
  const [left, right] = [compileCondition(expr.left), compileCondition(expr.right, compileBlock)];
  const decisive = expr.op === "||";
  return (evaluation) => {
    try {
      if (left(evaluation) === decisive) return decisive;
    } catch (error) {
      if (isFatal(error)) throw error;
      chargeFailure(evaluation);
      if (right(evaluation) !== decisive) throw error;
      return decisive;
    }
    return right(evaluation);
  };
}

function compileNegate({ at, of }: Of<"negate">): Evaluate {
  const evaluate = compile(of);
  return (evaluation) => {
    const value = evaluate(evaluation);
    if (typeof value === "number") return -value;
    if (isLongNumber(value)) return calculate(evaluation, at, "-", 0, value);
    if (value instanceof Duration) {
      const { ms, nanos } = addTimes({ ms: 0, nanos: 0 }, value, -1);
      return new Duration(ms, nanos);
    }
    if (value === null || value === undefined) return throwNullValue(of.at, formatNode(of.at));
    return throwFailed(at, `negates ${describeKind(kindOf(value))}, expected a number or a duration`);
  };
}

function compileBinary({ at, op, left, right }: Of<"binary">): Evaluate {
  const [first, second] = [compile(left), compile(right)];
  const joins = op === "+" && (isTextForm(left) || isTextForm(right));
  if (isEquality(op))
    return (evaluation) => applyOperator(evaluation, at, op, first(evaluation), second(evaluation));
  return (evaluation) => {
    const a = first(evaluation);
    const b = second(evaluation);
    // null in [null] is true.
    if ((a === null || a === undefined) && op !== "in") return throwNullValue(left.at, formatNode(left.at));
    if (b === null || b === undefined) return throwNullValue(right.at, formatNode(right.at));
    if (op === "in" && (a === null || a === undefined) && !Array.isArray(b))
      return throwNullValue(left.at, formatNode(left.at));
    if (joins && typeof a === "string" && typeof b === "string") return joinTexts(evaluation, a, b);
    return applyOperator(evaluation, at, op, a, b);
  };
}

/** Whether an expression is text by its form, so that + joins it also with a text that is a long number. */
function isTextForm(expr: Expr): boolean {
  switch (expr.kind) {
    case "literal":
      return typeof expr.value === "string";
    case "call":
      return expr.fn.result === returnsText;
    case "binary":
      return expr.op === "+" && (isTextForm(expr.left) || isTextForm(expr.right));
    case "choice":
      return isTextForm(expr.yes) && isTextForm(expr.no);
    case "default":
      return isTextForm(expr.left) && isTextForm(expr.right);
    default:
      return false;
  }
}

function compileCall({ at, name, fn, args, body }: Of<"call">): Evaluate {
  const compiled = args.map(compile);
  const params = args.map((_, index) => fn.params[index] ?? fn.params.at(-1)!);
  const argumentSource = (index: number): string => formatNode(args[index]!.at);
  return (evaluation) => {
    const values = compiled.map((arg) => arg(evaluation));
    const call: CallContext = { evaluation, location: at, argumentSource };
    params.forEach(({ kinds, items, takesLongNumbers }, index) => {
      if (kinds === undefined) return;
      const kind = kindOf(values[index]);
      if (kind === "null") throwNullValue(args[index]!.at, argumentSource(index));
      const isLong = (value: unknown): boolean => takesLongNumbers === true && isLongNumber(value);
      if (!kinds.includes(kind) && !isLong(values[index]))
        throwFailed(
          at,
          `passes ${argumentSource(index)} to ${name}, expected ${describeKinds(kinds)}, got ${describeKind(kind)}`,
          { fix: `Write ${fn.usage}.` },
        );
      if (items === undefined) return;
      const list = values[index] as unknown[];
      charge(evaluation, list.length);
      list.forEach((item, position) => {
        const found = kindOf(item);
        if (items.includes(found) || isLong(item)) return;
        const which = `item ${position + 1} of ${argumentSource(index)}`;
        if (found === "null") throwNullItem(at, which);
        throwFailed(
          at,
          `passes ${which} to ${name}, expected ${describeKinds(items)}, got ${describeKind(found)}`,
          { fix: fixOfItems(args[index]!, name, found) },
        );
      });
    });
    const result = body(values, call);
    return typeof result === "number" ? assertFinite(at, result) : result;
  };
}

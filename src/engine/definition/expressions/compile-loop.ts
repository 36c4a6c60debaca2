/** Compiles the loops: `map`, `filter`, `all`, `sort_by` and the others. */
import { canonicalDigits, isLargeInteger } from "../../../core/long-number-arithmetic.ts";
import { isLongNumber } from "../../../../schemas/long-numbers.ts";
import { blockCost } from "./block-cost.ts";
import type { CallContext } from "./functions.ts";
import type { Evaluate } from "./compile.ts";
import { throwFailed, isFatal, throwNullItem, throwNullValue, formatNode } from "./failures.ts";
import { isDescending, sortedIndexes } from "./list-functions.ts";
import type { LoopName } from "./loops.ts";
import { charge, chargeComparison, chargeFailure, limitList } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";
import type { Expr } from "./tree.ts";
import { mapKey, kindOf, fieldNames, setField, describeKind } from "./values.ts";
import type { Fields } from "./values.ts";

type Loop = Extract<Expr, { kind: "loop" }>;
type Compile<T> = (expr: Expr) => (evaluation: Evaluation) => T;
/** Evaluates the body of a loop for one item. */
type Each<T> = (evaluation: Evaluation, item: unknown) => T;

/** Loops whose body is a condition. */
const CONDITIONAL = new Set<LoopName>(["all", "exists", "exists_one", "filter"]);

/** Work of one iteration, apart from that of its body. */
const ITERATION_COST = 3;

/** Work of creating a group. */
const GROUP_COST = 40;

/** Compiles a loop. Over an object it visits the names of the fields. */
export function compileLoop(
  loop: Loop,
  compile: Compile<unknown>,
  compileCondition: Compile<boolean>,
): Evaluate {
  const over = compile(loop.over);
  const { slot } = loop;
  const each = <T>(of: Expr, compilePart: Compile<T>): Each<T> => {
    const body = compilePart(of);
    const cost = ITERATION_COST + blockCost(of);
    return (evaluation, item) => {
      charge(evaluation, cost);
      evaluation.locals[slot] = item ?? null;
      return body(evaluation);
    };
  };
  const iterate = CONDITIONAL.has(loop.name)
    ? compileConditionLoop(loop.name, each(loop.body, compileCondition))
    : compileValueLoop(loop, each(loop.body, compile), compile, (condition) =>
        each(condition, compileCondition),
      );
  return (evaluation) => iterate(evaluation, itemsOf(evaluation, loop, over(evaluation)));
}

function itemsOf(evaluation: Evaluation, { name, over, at }: Loop, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  if (value === null || value === undefined) return throwNullValue(over.at, formatNode(over.at));
  if (kindOf(value) === "map") return fieldNames(evaluation, value as Fields);
  return throwFailed(at, `uses ${name} on ${describeKind(kindOf(value))}, expected a list or an object`);
}

type Iterate = (evaluation: Evaluation, items: readonly unknown[]) => unknown;

function compileConditionLoop(name: LoopName, holds: Each<boolean>): Iterate {
  switch (name) {
    case "filter":
      return (evaluation, items) => items.filter((item) => holds(evaluation, item));
    case "exists_one":
      return (evaluation, items) => items.filter((item) => holds(evaluation, item)).length === 1;
    default:
      return compileQuantifier(name === "exists", holds);
  }
}

/** Compiles `exists` or `all`. As for || and &&: if one item decides the result, errors of the others are ignored. */
function compileQuantifier(decisive: boolean, holds: Each<boolean>): Iterate {
  return (evaluation, items) => {
    let failure: unknown;
    for (const item of items) {
      try {
        if (holds(evaluation, item) === decisive) return decisive;
      } catch (error) {
        if (isFatal(error)) throw error;
        chargeFailure(evaluation);
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return !decisive;
  };
}

function compileValueLoop(
  loop: Loop,
  value: Each<unknown>,
  compile: Compile<unknown>,
  condition: (expr: Expr) => Each<boolean>,
): Iterate {
  switch (loop.name) {
    case "map": {
      if (loop.extra === undefined)
        return (evaluation, items) => items.map((item) => value(evaluation, item));
      const holds = condition(loop.extra);
      return (evaluation, items) =>
        items.filter((item) => holds(evaluation, item)).map((item) => value(evaluation, item));
    }
    case "sort_by":
      return sortBy(loop, value, loop.extra && compile(loop.extra));
    default:
      return groupBy(loop, value);
  }
}

function sortBy({ at, body, over }: Loop, key: Each<unknown>, direction: Evaluate | undefined): Iterate {
  const name = (index: number): string => `${formatNode(body.at)} of item ${index + 1}`;
  return (evaluation, items) => {
    const call: CallContext = { evaluation, location: at, argumentSource: () => formatNode(over.at) };
    const descending = isDescending(direction?.(evaluation), call);
    const keys = items.map((item) => key(evaluation, item));
    return sortedIndexes(keys, descending, call, name).map((index) => items[index]);
  };
}

function groupBy({ at, body }: Loop, key: Each<unknown>): Iterate {
  return (evaluation, items) => {
    const groups = new Map<string, unknown[]>();
    items.forEach((item, index) => {
      const value = key(evaluation, item);
      if (value === null || value === undefined)
        throwNullItem(at, `${formatNode(body.at)} of item ${index + 1}`);
      const name =
        (isLongNumber(value) || isLargeInteger(value) ? canonicalDigits(value) : mapKey(value)) ??
        throwFailed(at, `groups by ${describeKind(kindOf(value))}, expected text, a number or a boolean`, {
          fix: "Group by a single field of the items.",
        });
      chargeComparison(evaluation, name.length);
      const group = groups.get(name);
      if (group) group.push(item);
      else {
        limitList(evaluation, 4 * (groups.size + 1));
        groups.set(name, [item]);
      }
    });
    charge(evaluation, 2 * items.length + GROUP_COST * groups.size);
    const map: Record<string, unknown> = {};
    for (const [name, group] of groups) setField(map, name, group);
    return map;
  };
}

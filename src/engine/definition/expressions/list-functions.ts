/** Functions on lists and objects. */
import type { ExactNumber } from "../../../core/long-number-arithmetic.ts";
import { NUMBER, STRING } from "../../../core/shapes.ts";
import { throwFailed, throwNullItem, throwNullValue } from "./failures.ts";
import type { CallContext, CelFunction, FunctionBody } from "./functions.ts";
import * as is from "./params.ts";
import { charge, limitList } from "./evaluation-context.ts";
import { MAX_EXPRESSION_LIST } from "./limits.ts";
import { countCharacters } from "./text-functions.ts";
import { elementType, notNull } from "./typing.ts";
import type { Type } from "./typing.ts";
import { applyOperator, meanOf, sumOf } from "./operators.ts";
import { compare, identityKey, kindOf, fieldNames, describeKind, Duration, orderOf } from "./values.ts";
import type { Fields } from "./values.ts";

/** Work of adding a duration. */
const DURATION_COST = 10;
/** Work of comparing two values. */
const COMPARISON_COST = 5;

/**
 * Sorts keys of one kind, in a stable order.
 * @param name describes a key, for the error that it is null
 * @returns their positions, smallest key first
 */
export function sortedIndexes(
  keys: readonly unknown[],
  descending: boolean,
  call: CallContext,
  name: (index: number) => string,
): number[] {
  keys.forEach((key, index) => {
    if (kindOf(key) === "null") throwNullItem(call.location, name(index));
  });
  charge(call.evaluation, COMPARISON_COST * keys.length);
  const order = keys.length === 0 ? "number" : orderOf(call.evaluation, keys);
  if (order === undefined) return throwUnordered(keys, call);
  const sign = descending ? -1 : 1;
  return Array.from(keys.keys()).toSorted((a, b) => {
    charge(call.evaluation, COMPARISON_COST);
    return sign * compare(call.evaluation, order, keys[a], keys[b]);
  });
}

function throwUnordered(keys: readonly unknown[], call: CallContext): never {
  const first = kindOf(keys[0]);
  const other = keys.map(kindOf).find((kind) => kind !== first);
  const kinds =
    other === undefined ? describeKind(first) : `${describeKind(first)} and ${describeKind(other)}`;
  return throwFailed(call.location, `compares ${kinds}, which have no order`);
}

const itemOf =
  (call: CallContext, argument: number) =>
  (index: number): string =>
    `item ${index + 1} of ${call.argumentSource(argument)}`;

/** Returns the smallest or largest item of a list, or argument. The result for an empty list is null, as in SQL. */
const extreme =
  (sign: 1 | -1): FunctionBody =>
  (args, call) => {
    const isList = args.length === 1 && Array.isArray(args[0]);
    const values = isList ? (args[0] as unknown[]) : args;
    const name = isList ? itemOf(call, 0) : call.argumentSource;
    charge(call.evaluation, COMPARISON_COST * values.length);
    values.forEach((value, index) => {
      if (kindOf(value) === "null") (isList ? throwNullItem : throwNullValue)(call.location, name(index));
    });
    if (values.length === 0) return null;
    const order = orderOf(call.evaluation, values);
    if (order === undefined) {
      const index = values.findIndex((value) => orderOf(call.evaluation, [values[0], value]) === undefined);
      throwFailed(call.location, `compares values that have no order, such as ${name(index)}`);
    }
    return values.reduce((best, value) =>
      sign * compare(call.evaluation, order, value, best) < 0 ? value : best,
    );
  };

const extremeOf = (name: string, sign: 1 | -1): CelFunction => ({
  usage: `list.${name}() or ${name}(a, b)`,
  params: [{ kinds: ["list", "number", "string", "boolean", "timestamp", "duration"], itemsNotNull: true }],
  variadic: true,
  result: (args) => {
    const [first] = args;
    if (args.length > 1) return args.every((arg) => arg.kind === first!.kind) ? notNull(first!) : ANYTHING;
    return first!.kind === "list" ? { ...elementType(first!), nullable: true } : ANYTHING;
  },
  call: extreme(sign),
});

const ANYTHING: Type = { kind: "any" };

const size: FunctionBody = ([value], { evaluation }) => {
  if (typeof value === "string") return countCharacters(evaluation, value);
  return Array.isArray(value) ? value.length : fieldNames(evaluation, value as Fields).length;
};

const unique: FunctionBody = ([list], { evaluation }) => {
  const ids = new Set<string>();
  return (list as unknown[]).filter((item) => {
    const id = identityKey(evaluation, item);
    limitList(evaluation, 2 * ids.size);
    return !ids.has(id) && ids.add(id);
  });
};

const flatten: FunctionBody = ([list], { evaluation }) => {
  const flat: unknown[] = [];
  for (const item of list as unknown[]) {
    const items: unknown[] = Array.isArray(item) ? item : [item];
    limitList(evaluation, flat.length + items.length);
    charge(evaluation, 2 * items.length + 1);
    for (const inner of items) flat.push(inner);
  }
  return flat;
};

const sort: FunctionBody = ([list, direction], call) => {
  const items = list as unknown[];
  charge(call.evaluation, items.length);
  return sortedIndexes(items, isDescending(direction, call), call, itemOf(call, 0)).map(
    (index) => items[index],
  );
};

/** Whether a sort direction is "desc"; the default is "asc". */
export function isDescending(direction: unknown, { location }: Pick<CallContext, "location">): boolean {
  if (direction === undefined || direction === "asc" || direction === "desc") return direction === "desc";
  return throwFailed(location, 'has an unknown sort direction, expected "asc" or "desc"');
}

const flattenedType = (type: Type): Type => {
  const element = elementType(type);
  if (element.kind === "list") return { kind: "list", of: elementType(element) };
  return { kind: "list", of: element };
};

const range: FunctionBody = ([first, second], { evaluation, location }) => {
  const [from, to] = (second === undefined ? [0, first] : [first, second]) as [number, number];
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to))
    throwFailed(location, "makes a range of numbers that are not integers");
  if (to - from > MAX_EXPRESSION_LIST)
    throwFailed(
      location,
      `makes a range of more than ${MAX_EXPRESSION_LIST.toLocaleString("en-US")} integers`,
    );
  const length = Math.max(0, to - from);
  charge(evaluation, 2 * length);
  return Array.from({ length }, (_, index) => from + index);
};

export const LIST_FUNCTIONS: Readonly<Record<string, CelFunction>> = {
  range: {
    usage: "range(count) or range(from, to), without to",
    params: [is.number, is.number],
    optional: 1,
    result: () => ({ kind: "list", of: NUMBER }),
    call: range,
  },
  size: {
    usage: "list.size(), text.size() or object.size()",
    params: [{ kinds: ["list", "string", "map"] }],
    result: is.returnsNumber,
    call: size,
  },
  sum: {
    usage: "list.sum()",
    params: [is.summands],
    result: ([list]) => (elementType(list!).kind === "duration" ? { kind: "duration" } : NUMBER),
    call: ([list], { evaluation, location }) => {
      const values = list as (ExactNumber | Duration)[];
      if (!values.some((value) => value instanceof Duration))
        return sumOf(evaluation, location, values as ExactNumber[]);
      charge(evaluation, DURATION_COST * values.length);
      return values.reduce((sum, value) => applyOperator(evaluation, location, "+", sum, value) as Duration);
    },
  },
  avg: {
    usage: "list.avg()",
    params: [is.numbers],
    // An empty list has no average: null, as in SQL.
    result: () => ({ ...NUMBER, nullable: true }),
    call: ([list], { evaluation, location }) => {
      const values = list as ExactNumber[];
      return values.length === 0 ? null : meanOf(evaluation, location, values);
    },
  },
  min: extremeOf("min", 1),
  max: extremeOf("max", -1),
  unique: { usage: "list.unique()", params: [is.list], result: is.returnsFirstArgumentType, call: unique },
  flatten: {
    usage: "list.flatten()",
    params: [is.list],
    result: ([list]) => flattenedType(list!),
    call: flatten,
  },
  reverse: {
    usage: "list.reverse()",
    params: [is.list],
    result: is.returnsFirstArgumentType,
    call: ([list], { evaluation }) => {
      charge(evaluation, (list as unknown[]).length);
      return (list as unknown[]).toReversed();
    },
  },
  sort: {
    usage: 'list.sort() or list.sort("desc")',
    params: [{ ...is.list, itemsNotNull: true }, is.oneOf(["asc", "desc"], "has an unknown sort direction")],
    optional: 1,
    result: is.returnsFirstArgumentType,
    call: sort,
  },
  keys: {
    usage: "object.keys()",
    params: [is.map],
    result: () => ({ kind: "list", of: STRING }),
    call: ([map], { evaluation }) => fieldNames(evaluation, map as Fields),
  },
  values: {
    usage: "object.values()",
    params: [is.map],
    result: ([map]) => ({ kind: "list", of: elementType(map!) }),
    call: ([map], { evaluation }) =>
      fieldNames(evaluation, map as Fields).map((name) => (map as Fields)[name]),
  },
};

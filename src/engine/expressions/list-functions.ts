/** Functions on lists and objects. */
import { NUMBER, STRING } from "../../core/shapes.ts";
import { failed, isNull } from "./failures.ts";
import type { Call, CelFunction, FunctionBody } from "./functions.ts";
import * as is from "./params.ts";
import { charge } from "./run.ts";
import { lengthOf } from "./text-functions.ts";
import { elementOf } from "./typing.ts";
import type { Type } from "./typing.ts";
import { compare, finite, identity, kindOf, namesOf, wordOf } from "./values.ts";
import type { Fields } from "./values.ts";

const sumOf = (values: readonly unknown[], { run, place }: Call): number => {
  charge(run, values.length);
  return finite(
    place,
    (values as readonly number[]).reduce((sum, value) => sum + value, 0),
  );
};

/** The sorted order of keys that are all of one kind, as positions; the smallest first, equal ones as they stood. */
export function order(
  keys: readonly unknown[],
  descending: boolean,
  call: Call,
  name: (index: number) => string,
): number[] {
  const kind = kindOf(keys[0]);
  keys.forEach((key, index) => {
    if (kindOf(key) === "null") isNull(call.place, name(index));
    if (kindOf(key) !== kind || compare(call.run, key, key) === undefined) {
      const words = kindOf(key) === kind ? wordOf(kind) : `${wordOf(kind)} and ${wordOf(kindOf(key))}`;
      failed(call.place, `compares ${words}, which have no order`);
    }
  });
  const sign = descending ? -1 : 1;
  return Array.from(keys.keys()).toSorted((a, b) => {
    charge(call.run, 1);
    return sign * compare(call.run, keys[a], keys[b])!;
  });
}

const itemOf =
  (call: Call, argument: number) =>
  (index: number): string =>
    `item ${index + 1} of ${call.written(argument)}`;

/** The least or the greatest of a list, or of the arguments; null of an empty list, as in SQL. */
const extreme =
  (sign: 1 | -1): FunctionBody =>
  (args, call) => {
    const isList = args.length === 1 && Array.isArray(args[0]);
    const values = isList ? (args[0] as unknown[]) : args;
    const name = isList ? itemOf(call, 0) : call.written;
    charge(call.run, values.length);
    let best: unknown = null;
    values.forEach((value, index) => {
      if (kindOf(value) === "null") isNull(call.place, name(index));
      const difference = index === 0 ? compare(call.run, value, value) : compare(call.run, value, best);
      if (difference === undefined)
        failed(call.place, `compares values that have no order: ${name(index)} is one`);
      if (index === 0 || sign * difference < 0) best = value;
    });
    return best;
  };

const extremeOf = (name: string, sign: 1 | -1): CelFunction => ({
  usage: `list.${name}() or ${name}(a, b)`,
  params: [{ kinds: ["list", "number", "string", "boolean", "timestamp", "duration"] }],
  variadic: true,
  result: (args) => {
    const [first] = args;
    if (args.length > 1)
      return args.every((arg) => arg.kind === first!.kind) ? { ...first!, nullable: false } : ANYTHING;
    return first!.kind === "list" ? { ...elementOf(first!), nullable: true } : ANYTHING;
  },
  call: extreme(sign),
});

const ANYTHING: Type = { kind: "any" };

const size: FunctionBody = ([value], { run }) => {
  if (typeof value === "string") return lengthOf(run, value);
  return Array.isArray(value) ? value.length : namesOf(run, value as Fields).length;
};

const unique: FunctionBody = ([list], { run }) => {
  const seen = new Set<string>();
  return (list as unknown[]).filter((item) => {
    const id = identity(run, item);
    return !seen.has(id) && seen.add(id);
  });
};

const flatten: FunctionBody = ([list], { run }) => {
  const flat: unknown[] = [];
  for (const item of list as unknown[]) {
    const items: unknown[] = Array.isArray(item) ? item : [item];
    charge(run, items.length + 1);
    for (const one of items) flat.push(one);
  }
  return flat;
};

const sort: FunctionBody = ([list, direction], call) => {
  const items = list as unknown[];
  charge(call.run, items.length);
  return order(items, isDescending(direction, call), call, itemOf(call, 0)).map((index) => items[index]);
};

/** The direction of a sort: "asc", which is left out, or "desc". */
export function isDescending(direction: unknown, { place }: Pick<Call, "place">): boolean {
  if (direction === undefined || direction === "asc" || direction === "desc") return direction === "desc";
  return failed(place, 'sorts in another direction than "asc" and "desc"');
}

const flat = (type: Type): Type => {
  const element = elementOf(type);
  if (element.kind === "list") return { kind: "list", of: element.of };
  return { kind: "list", of: element };
};

export const LIST_FUNCTIONS: Readonly<Record<string, CelFunction>> = {
  size: {
    usage: "list.size(), text.size() or object.size()",
    params: [{ kinds: ["list", "string", "map"] }],
    result: is.givesNumber,
    call: size,
  },
  sum: {
    usage: "list.sum()",
    params: [is.numbers],
    result: is.givesNumber,
    call: ([list], call) => sumOf(list as number[], call),
  },
  avg: {
    usage: "list.avg()",
    params: [is.numbers],
    // Null of an empty list, as in SQL.
    result: () => ({ ...NUMBER, nullable: true }),
    call: ([list], call) => {
      const values = list as number[];
      return values.length === 0 ? null : sumOf(values, call) / values.length;
    },
  },
  min: extremeOf("min", 1),
  max: extremeOf("max", -1),
  unique: { usage: "list.unique()", params: [is.list], result: is.givesFirst, call: unique },
  flatten: { usage: "list.flatten()", params: [is.list], result: ([list]) => flat(list!), call: flatten },
  reverse: {
    usage: "list.reverse()",
    params: [is.list],
    result: is.givesFirst,
    call: ([list], { run }) => {
      charge(run, (list as unknown[]).length);
      return (list as unknown[]).toReversed();
    },
  },
  sort: {
    usage: 'list.sort() or list.sort("desc")',
    params: [is.list, is.text],
    optional: 1,
    result: is.givesFirst,
    call: sort,
  },
  keys: {
    usage: "object.keys()",
    params: [is.map],
    result: () => ({ kind: "list", of: STRING }),
    call: ([map], { run }) => namesOf(run, map as Fields),
  },
  values: {
    usage: "object.values()",
    params: [is.map],
    result: ([map]) => ({ kind: "list", of: elementOf(map!) }),
    call: ([map], { run }) => namesOf(run, map as Fields).map((name) => (map as Fields)[name]),
  },
};

/**
 * Three-way merge of JSON: applies what one side changed to the other side's value. Objects are merged by their keys, and
 * lists of objects with ids, such as steps, by their ids; everything else is changed as a whole.
 */
import { canonicalJson } from "./canonical-json.ts";

/** The paths that both sides changed in different ways, such as `definition.steps.load.query`. */
export type MergeResult =
  { merged: unknown; conflicts?: undefined } | { merged?: undefined; conflicts: string[] };

/** Stands for a value that does not exist, which differs from null. */
const ABSENT = Symbol("absent");
type Value = unknown;

/**
 * @param base the value that both sides began with
 * @param ours and theirs: the values of the two sides
 */
export function mergeJson(base: Value, ours: Value, theirs: Value): MergeResult {
  const conflicts: string[] = [];
  const merged = merge(base, ours, theirs, "", conflicts);
  return conflicts.length > 0 ? { conflicts } : { merged };
}

function merge(base: Value, ours: Value, theirs: Value, path: string, conflicts: string[]): Value {
  if (isSame(base, theirs)) return ours;
  if (isSame(base, ours) || isSame(ours, theirs)) return theirs;
  if (isObject(ours) && isObject(theirs))
    return mergeObjects(isObject(base) ? base : {}, ours, theirs, path, conflicts);
  const lists = [base, ours, theirs].map(byId);
  if (lists.every((list) => list !== undefined))
    return mergeLists(lists as [Items, Items, Items], path, conflicts);
  conflicts.push(path === "" ? "everything" : path);
  return theirs;
}

const isSame = (a: Value, b: Value): boolean =>
  a === b || (a !== ABSENT && b !== ABSENT && canonicalJson(a) === canonicalJson(b));

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: Value): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function mergeObjects(base: Fields, ours: Fields, theirs: Fields, path: string, conflicts: string[]): Fields {
  const get = (fields: Fields, key: string) => (Object.hasOwn(fields, key) ? fields[key] : ABSENT);
  const keys = [...new Set([...Object.keys(theirs), ...Object.keys(ours)])];
  const entries = keys.map((key) => {
    const at = path === "" ? key : `${path}.${key}`;
    return [key, merge(get(base, key), get(ours, key), get(theirs, key), at, conflicts)] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== ABSENT));
}

/** The items of a list by their ids, in order. */
type Items = ReadonlyMap<string, Fields>;

/** @returns undefined unless all items are objects with ids of their own */
function byId(value: Value): Items | undefined {
  if (!Array.isArray(value)) return undefined;
  const items = new Map<string, Fields>();
  for (const item of value as unknown[]) {
    if (!isObject(item) || typeof item["id"] !== "string" || items.has(item["id"])) return undefined;
    items.set(item["id"], item);
  }
  return items;
}

function mergeLists(
  [base, ours, theirs]: [Items, Items, Items],
  path: string,
  conflicts: string[],
): unknown[] {
  const lists = [base, ours, theirs];
  const common = (items: Items) => [...items.keys()].filter((id) => lists.every((list) => list.has(id)));
  const [baseOrder, ourOrder, theirOrder] = lists.map(common);
  const theyReordered = !isSame(theirOrder, baseOrder);
  if (theyReordered && !isSame(ourOrder, baseOrder) && !isSame(ourOrder, theirOrder)) conflicts.push(path);
  // The order of the side that changed it, with the additions of the other side.
  const [first, second] = theyReordered ? [theirs, ours] : [ours, theirs];
  const get = (items: Items, id: string): Value => items.get(id) ?? ABSENT;
  return mergedOrder(first, second)
    .map((id) => merge(get(base, id), get(ours, id), get(theirs, id), `${path}.${id}`, conflicts))
    .filter((item) => item !== ABSENT);
}

/** The ids of one side, each followed by what only the other side has after it: what it added, or the first side removed. */
function mergedOrder(first: Items, second: Items): string[] {
  const order = [...first.keys()];
  let next = 0;
  for (const id of second.keys()) {
    if (!first.has(id)) order.splice(next, 0, id);
    next = order.indexOf(id) + 1;
  }
  return order;
}

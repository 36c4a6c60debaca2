/** Finds the operations that change one JSON value into another, so that what stays can keep its comments and its form. */
import type { JsonPatchOperation } from "./problem.ts";

export type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns a JSON Patch (RFC 6902) that makes `before` equal to `after`; the order of the keys of an object does not count. Items of
 * lists are the same if they have the same `id`, or are equal, or stand in the same place and differ little: a renamed step. A key
 * whose text, list or object stands under another name was renamed.
 */
export function diffJson(before: unknown, after: unknown): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  diffValue("", before, after, operations);
  return operations;
}

/** Whether two JSON values are equal; the order of keys does not count. */
export function isEqualJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isEqualJson(item, b[index]));
  if (!isFields(a) || !isFields(b)) return a === b;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqualJson(a[key], b[key]))
  );
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const child = (path: string, key: string | number): string =>
  `${path}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

function diffValue(path: string, before: unknown, after: unknown, operations: JsonPatchOperation[]): void {
  if (isFields(before) && isFields(after)) diffFields(path, before, after, operations);
  else if (Array.isArray(before) && Array.isArray(after)) diffList(path, before, after, operations);
  else if (before !== after) operations.push({ op: "replace", path, value: after });
}

function diffFields(path: string, before: Fields, after: Fields, operations: JsonPatchOperation[]): void {
  const names = matchFields(before, after);
  for (const [key, to] of names) {
    if (to === undefined) operations.push({ op: "remove", path: child(path, key) });
    else if (to !== key) operations.push({ op: "move", from: child(path, key), path: child(path, to) });
  }
  const kept = new Set(names.values());
  for (const [key, value] of Object.entries(after))
    if (!kept.has(key)) operations.push({ op: "add", path: child(path, key), value });
  for (const [key, to] of names)
    if (to === key) diffValue(child(path, key), before[key], after[key], operations);
}

/** Returns for each key of `before` the key that it has in `after`: the same one, that of an equal value, or undefined. */
export function matchFields(before: Fields, after: Fields): Map<string, string | undefined> {
  const added = Object.keys(after).filter((key) => !Object.hasOwn(before, key));
  // By their texts: a definition may have tens of thousands of keys.
  const byValue = Map.groupBy(added, (key) => JSON.stringify(after[key]));
  return new Map(
    Object.entries(before).map(([key, value]) => {
      if (Object.hasOwn(after, key)) return [key, key];
      return [key, isNameable(value) ? byValue.get(JSON.stringify(value))?.shift() : undefined];
    }),
  );
}

/** Whether an equal value under another name is hardly a coincidence. */
const isNameable = (value: unknown): boolean => typeof value === "string" || typeof value === "object";

function diffList(
  path: string,
  before: readonly unknown[],
  after: readonly unknown[],
  operations: JsonPatchOperation[],
): void {
  const sources = matchItems(before, after);
  const used = new Set(sources);
  for (const index of [...before.keys()].toReversed())
    if (!used.has(index)) operations.push({ op: "remove", path: child(path, index) });
  /** For each item of the list as it is changed: its index in `before`; -1 for a new one. */
  const current = [...before.keys()].filter((index) => used.has(index));
  for (const [index, value] of after.entries()) {
    const source = sources[index];
    if (source === undefined) {
      operations.push({ op: "add", path: child(path, index), value });
      current.splice(index, 0, -1);
      continue;
    }
    const at = current.indexOf(source, index);
    if (at !== index) {
      operations.push({ op: "move", from: child(path, at), path: child(path, index) });
      current.splice(index, 0, ...current.splice(at, 1));
    }
    diffValue(child(path, index), before[source], value, operations);
  }
}

/** Returns for each item of `after` the index of the same item in `before`; undefined for a new one. */
export function matchItems(before: readonly unknown[], after: readonly unknown[]): (number | undefined)[] {
  const byKey = Map.groupBy(before.keys(), (index) => keyOf(before[index]));
  const sources = after.map((item) => byKey.get(keyOf(item))?.shift());
  const used = new Set(sources);
  for (const [index, item] of after.entries()) {
    if (sources[index] !== undefined) continue;
    // The item that followed the one before it.
    const candidate = index === 0 ? 0 : (sources[index - 1] ?? before.length) + 1;
    if (candidate >= before.length || used.has(candidate) || !isSimilar(before[candidate], item)) continue;
    sources[index] = candidate;
    used.add(candidate);
  }
  return sources;
}

/** The id of an item, else the item itself. */
const keyOf = (item: unknown): string =>
  isFields(item) && typeof item["id"] === "string" ? `id ${item["id"]}` : JSON.stringify(item);

/** Whether at least half of the fields of two objects are equal. */
function isSimilar(before: unknown, after: unknown): boolean {
  if (!isFields(before) || !isFields(after)) return Array.isArray(before) && Array.isArray(after);
  const keys = Object.keys(before);
  const equal = keys.filter((key) => Object.hasOwn(after, key) && isEqualJson(before[key], after[key]));
  return equal.length > 0 && equal.length * 2 >= keys.length;
}

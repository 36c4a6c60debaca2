/** Compares two JSON values field by field: which places differ, and what each value has there. */
import { compareNumbers, isExactNumber } from "./long-number-arithmetic.ts";

/** Maximum number of pairs of values that one comparison visits: usually less than 100 ms of work. */
const MAX_VISITED = 1_000_000;

/** Maximum nesting that is compared, in levels, so that recursive code can't overflow the stack. */
const MAX_DEPTH = 200;

/** A place at which two values differ. A place that one value does not have lacks `before` or `after`; null is a value. */
export interface Difference {
  /** Keys and indexes. The index of a removed item counts in the list before, that of an inserted item in the list after. */
  path: PropertyKey[];
  before?: unknown;
  after?: unknown;
}

export interface ValueDifferences {
  /** The first ones, in the order of the value before. */
  differences: Difference[];
  /** Number of all differences that were found. */
  total: number;
  /** Whether both values were compared as a whole. If not, there may be more differences. */
  isComplete: boolean;
  /** Number of pairs of values that were visited. */
  visited: number;
}

interface DifferenceOptions {
  /** Maximum number of differences that are returned. */
  limit: number;
  /** Maximum number of pairs of values that are visited. */
  maxVisited?: number;
}

interface Walk extends Omit<ValueDifferences, "visited"> {
  readonly limit: number;
  readonly path: PropertyKey[];
  remaining: number;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Compares two values. Objects are compared by key, in any order, and lists by index; of two lists of different lengths the
 * equal items at both ends are left out first, so that an inserted item is one difference. Numbers and long numbers are
 * compared by value, as expressions do.
 * @param before what `JSON.parse` returns, or undefined if there is no value
 */
export function differencesOf(
  before: unknown,
  after: unknown,
  { limit, maxVisited = MAX_VISITED }: DifferenceOptions,
): ValueDifferences {
  const walk: Walk = { limit, path: [], remaining: maxVisited, differences: [], total: 0, isComplete: true };
  compare(walk, before, after);
  const { differences, total, isComplete, remaining } = walk;
  return { differences, total, isComplete, visited: maxVisited - remaining };
}

function compare(walk: Walk, before: unknown, after: unknown): void {
  if (!visit(walk, walk.path.length) || isSameScalar(before, after)) return;
  if (Array.isArray(before) && Array.isArray(after)) compareLists(walk, before, after);
  else if (isFields(before) && isFields(after)) compareFields(walk, before, after);
  else {
    walk.total += 1;
    if (walk.differences.length === walk.limit) return;
    walk.differences.push({
      path: [...walk.path],
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    });
  }
}

/** Counts a visit. @returns false at a limit, and notes that the comparison is not complete */
function visit(walk: Walk, depth: number): boolean {
  if (walk.remaining === 0 || depth > MAX_DEPTH) {
    walk.isComplete = false;
    return false;
  }
  walk.remaining -= 1;
  return true;
}

function compareAt(walk: Walk, key: PropertyKey, before: unknown, after: unknown): void {
  walk.path.push(key);
  compare(walk, before, after);
  walk.path.pop();
}

function compareFields(walk: Walk, before: Fields, after: Fields): void {
  for (const key of keysOf(before, after)) compareAt(walk, key, fieldOf(before, key), fieldOf(after, key));
}

function compareLists(walk: Walk, before: readonly unknown[], after: readonly unknown[]): void {
  const [start, end] = before.length === after.length ? [0, 0] : equalEnds(walk, before, after);
  const [endBefore, endAfter] = [before.length - end, after.length - end];
  for (let index = start; index < Math.max(endBefore, endAfter); index += 1) {
    // A list may have millions of items more than are visited.
    if (walk.remaining === 0) {
      walk.isComplete = false;
      return;
    }
    const item = index < endBefore ? before[index] : undefined;
    compareAt(walk, index, item, index < endAfter ? after[index] : undefined);
  }
}

/** Number of equal items at the start and at the end of two lists of different lengths. */
function equalEnds(walk: Walk, before: readonly unknown[], after: readonly unknown[]): [number, number] {
  const depth = walk.path.length + 1;
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isEqual(walk, before[start], after[start], depth)) start += 1;
  let end = 0;
  while (end < shorter - start && isEqual(walk, before.at(-1 - end), after.at(-1 - end), depth)) end += 1;
  return [start, end];
}

function isEqual(walk: Walk, before: unknown, after: unknown, depth: number): boolean {
  if (!visit(walk, depth)) return false;
  if (isSameScalar(before, after)) return true;
  if (Array.isArray(before) && Array.isArray(after))
    return (
      before.length === after.length &&
      before.every((item, index) => isEqual(walk, item, after[index], depth + 1))
    );
  if (!isFields(before) || !isFields(after)) return false;
  return keysOf(before, after).every((key) =>
    isEqual(walk, fieldOf(before, key), fieldOf(after, key), depth + 1),
  );
}

/** Texts, numbers, booleans and null. Two different texts may be one long number. */
function isSameScalar(before: unknown, after: unknown): boolean {
  if (before === after) return true;
  if (typeof before !== "string" && typeof after !== "string") return false;
  return isExactNumber(before) && isExactNumber(after) && compareNumbers(before, after) === 0;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The keys of both objects, each once. */
const keysOf = (before: Fields, after: Fields): string[] => [
  ...Object.keys(before),
  ...Object.keys(after).filter((key) => !Object.hasOwn(before, key)),
];

/** An own field; an object without the key has no value there, whatever its prototype has. */
const fieldOf = (fields: Fields, key: string): unknown =>
  Object.hasOwn(fields, key) ? fields[key] : undefined;

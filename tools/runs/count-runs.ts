/** One group of runs: what is counted of them. */
import { FINAL_STATUSES, RunStatus } from "../../schemas/run.ts";
import type { RunGroup } from "../../schemas/run-groups.ts";
import {
  calculateExactly,
  compareNumbers,
  type ExactNumber,
  isExactNumber,
} from "../../src/core/long-number-arithmetic.ts";
import type { ScannedRun } from "../../src/core/run-ports.ts";

interface Measure {
  runs: number;
  min: ExactNumber;
  max: ExactNumber;
  /** Undefined with more digits than a number may have. */
  sum: ExactNumber | undefined;
}

export interface CountedGroup {
  /** What its runs have in common, as it is shown. */
  readonly keys: readonly unknown[];
  runs: number;
  statuses: Partial<Record<RunStatus, number>>;
  first: Pick<ScannedRun, "id" | "createdAt">;
  readonly last: Pick<ScannedRun, "id" | "createdAt">;
  /** In milliseconds. */
  readonly durations: number[];
  readonly measures: Map<string, Measure>;
}

/** @param newest the run of it that was created last */
export const newGroup = (keys: readonly unknown[], newest: ScannedRun): CountedGroup => ({
  keys,
  runs: 0,
  statuses: {},
  first: newest,
  last: newest,
  durations: [],
  measures: new Map(),
});

/**
 * Counts a run, after those that were created later.
 * @param numbers the values of the measures by their names; those that are no numbers are left out
 */
export function countRun(group: CountedGroup, run: ScannedRun, numbers: ReadonlyMap<string, unknown>): void {
  const { id, createdAt, status, startedAt, finishedAt } = run;
  group.runs += 1;
  group.statuses[status] = (group.statuses[status] ?? 0) + 1;
  group.first = { id, createdAt };
  if (FINAL_STATUSES.has(status) && startedAt !== null && finishedAt !== null)
    group.durations.push(Date.parse(finishedAt) - Date.parse(startedAt));
  for (const [name, value] of numbers)
    if (isExactNumber(value)) group.measures.set(name, added(group.measures.get(name), value));
}

function added(measure: Measure | undefined, value: ExactNumber): Measure {
  if (measure === undefined) return { runs: 1, min: value, max: value, sum: value };
  const { runs, min, max, sum } = measure;
  return {
    runs: runs + 1,
    min: compareNumbers(value, min) < 0 ? value : min,
    max: compareNumbers(value, max) > 0 ? value : max,
    sum: sum === undefined ? undefined : calculateExactly("+", sum, value),
  };
}

/** @param names the names of its keys */
export function toRunGroup(group: CountedGroup, names: readonly string[]): RunGroup {
  const { keys, runs, statuses, first, last, measures } = group;
  const durations = group.durations.toSorted((a, b) => a - b);
  return {
    by: Object.fromEntries(
      names.flatMap((name, index) => (keys[index] === undefined ? [] : [[name, keys[index]]])),
    ),
    runs,
    statuses: Object.fromEntries(
      RunStatus.options.flatMap((status) =>
        statuses[status] === undefined ? [] : [[status, statuses[status]]],
      ),
    ),
    first: { run_id: first.id, created_at: first.createdAt },
    last: { run_id: last.id, created_at: last.createdAt },
    ...(durations.length > 0 && {
      duration_ms: { median: percentile(durations, 0.5), p95: percentile(durations, 0.95) },
    }),
    ...(measures.size > 0 && {
      measures: Object.fromEntries(Array.from(measures, ([name, measure]) => [name, toMeasure(measure)])),
    }),
  };
}

/** The smallest value that is at least as large as this share of them (nearest rank). @param sorted ascending, not empty */
const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.ceil(share * sorted.length) - 1]!;

function toMeasure({ runs, min, max, sum }: Measure) {
  const mean = sum === undefined ? undefined : calculateExactly("/", sum, runs);
  return { runs, min, max, sum: sum ?? null, mean: mean === undefined ? null : Number(mean) };
}

/** Orders groups by what they have in common: no value first, then by type and value. */
export function compareKeys(a: readonly unknown[], b: readonly unknown[]): number {
  for (const [index, key] of a.entries()) {
    const order = compareValues(key, b[index]);
    if (order !== 0) return order;
  }
  return 0;
}

function compareValues(a: unknown, b: unknown): number {
  const [left, right] = [rankOf(a), rankOf(b)];
  if (left !== right) return left - right;
  if (isExactNumber(a) && isExactNumber(b)) return compareNumbers(a, b);
  const [one, other] = [textOf(a), textOf(b)];
  return one < other ? -1 : Number(one > other);
}

const TYPES = ["undefined", "object", "boolean", "number", "string"];
/** Long numbers stand with the numbers. */
const rankOf = (value: unknown): number => TYPES.indexOf(isExactNumber(value) ? "number" : typeof value);
const textOf = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

import type { SkippedRuns } from "../../schemas/bulk-action.ts";

/** Number of runs that are named for each reason. */
const NAMED_RUNS = 5;

/** Adds up the runs that a bulk action skips, by reason: with the first of them, and the message of the first, which names its run. */
export function addUpSkipped(parts: Iterable<SkippedRuns>): SkippedRuns[] {
  const sums = new Map<SkippedRuns["reason"], SkippedRuns>();
  for (const part of parts) {
    const sum = sums.get(part.reason);
    if (sum === undefined) {
      sums.set(part.reason, { ...part, first: part.first.slice(0, NAMED_RUNS) });
      continue;
    }
    sum.runs += part.runs;
    sum.first.push(...part.first.slice(0, NAMED_RUNS - sum.first.length));
  }
  return [...sums.values()];
}

/** The last days of the browser's time zone, and the runs of each of them. */
import type { RunGroup } from "../../../schemas/run-groups.ts";
import { pluralize } from "./labels.ts";

/** Number of days that the small bars of a workflow show. */
export const SHOWN_DAYS = 14;

/** The runs of one day. */
export interface DayCount {
  /** A local day: 2026-11-21. */
  day: string;
  runs: number;
  succeeded: number;
  failed: number;
}

export interface LastDays {
  /** The oldest first. */
  days: readonly string[];
  /** When the first of them began, as a timestamp. */
  since: string;
}

const two = (n: number): string => String(n).padStart(2, "0");

/** The local day of a date: 2026-11-21. */
const localDay = (date: Date): string =>
  `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;

/** @param now milliseconds since 1970; its day is the last one */
export function lastDays(now: number, count = SHOWN_DAYS): LastDays {
  const today = new Date(now);
  // A day may have 23 or 25 hours, so days are not counted in milliseconds.
  const midnights = Array.from(
    { length: count },
    (_, index) => new Date(today.getFullYear(), today.getMonth(), today.getDate() - (count - 1 - index)),
  );
  return { days: midnights.map(localDay), since: midnights[0]!.toISOString() };
}

const countOf = (day: string, group: RunGroup | undefined): DayCount => ({
  day,
  runs: group?.runs ?? 0,
  succeeded: group?.statuses.succeeded ?? 0,
  failed: group?.statuses.failed ?? 0,
});

/** The counts of these days; days without runs have zeros. @param groups grouped by `day`, of one workflow */
export function countDays(days: readonly string[], groups: readonly RunGroup[]): DayCount[] {
  const byDay = new Map(groups.map((group) => [group.by["day"], group]));
  return days.map((day) => countOf(day, byDay.get(day)));
}

/** The counts of several days together. */
export const sumDays = (counts: readonly DayCount[]): Omit<DayCount, "day"> => {
  const sum = { runs: 0, succeeded: 0, failed: 0 };
  for (const { runs, succeeded, failed } of counts) {
    sum.runs += runs;
    sum.succeeded += succeeded;
    sum.failed += failed;
  }
  return sum;
};

/** "40 runs, 2 failed". */
export const describeCount = ({ runs, failed }: Pick<DayCount, "runs" | "failed">): string =>
  `${pluralize(runs, "run")}${failed > 0 ? `, ${failed.toLocaleString()} failed` : ""}`;

/** "Weekly revenue: 312 runs in 14 days, 4 failed; most on 2026-11-21: 40". */
export function describeDays(name: string, counts: readonly DayCount[]): string {
  const { runs, failed } = sumDays(counts);
  const [first, ...others] = counts;
  const most = others.reduce((a, b) => (b.runs > a.runs ? b : a), first!);
  return [
    `${name}: ${pluralize(runs, "run")} in ${counts.length} days`,
    ...(failed > 0 ? [`, ${failed.toLocaleString()} failed`] : []),
    ...(most.runs > 0 ? [`; most on ${most.day}: ${most.runs.toLocaleString()}`] : []),
  ].join("");
}

/**
 * The share of runs that succeeded, of those that succeeded or failed: "98.7 %". It is rounded down, so that only a workflow without
 * failures has 100 %.
 * @returns undefined if none has succeeded or failed
 */
export function successRate({ succeeded, failed }: Omit<DayCount, "day">): string | undefined {
  const ended = succeeded + failed;
  return ended === 0 ? undefined : `${Math.floor((succeeded * 1_000) / ended) / 10} %`;
}

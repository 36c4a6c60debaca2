/** The heights and texts of the bars of the home page. */
import * as texts from "#texts/home";
import type { DayStatistics } from "../../../schemas/run-statistics.ts";
import { formatNumber, locale } from "../locale/locale.ts";

/** Minimum height of a part with a run, in percent, so that one failure among thousands is seen. */
const MIN_PERCENT = 4;

/** Where the server stops counting. */
const MAX_TOTAL = 10_000;

type Counts = Pick<DayStatistics, "succeeded" | "failed">;

/** @returns the heights of each day's parts in percent of the tallest bar, which together are at most 100 */
export function barHeights(days: readonly Counts[]): Counts[] {
  const most = Math.max(1, ...days.map(({ succeeded, failed }) => succeeded + failed));
  return days.map(({ succeeded, failed }) => {
    const red = failed === 0 ? 0 : Math.max(MIN_PERCENT, (failed / most) * 100);
    const green = succeeded === 0 ? 0 : Math.max(MIN_PERCENT, (succeeded / most) * 100);
    return { failed: red, succeeded: Math.min(green, 100 - red) };
  });
}

const dayFormat = new Intl.DateTimeFormat(locale, {
  weekday: "short",
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});
const countText = (count: number): string =>
  count > MAX_TOTAL ? `${formatNumber(MAX_TOTAL)}+` : formatNumber(count);

export const dayText = ({ date, succeeded, failed }: Pick<DayStatistics, "date"> & Counts): string =>
  texts.dayCounts({
    day: dayFormat.format(Date.parse(date)),
    succeeded: countText(succeeded),
    failed: countText(failed),
  });

import { locale } from "../locale/locale.ts";

const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });

const DAY_S = 86_400;
/** From a week on, days are periods of 24 hours. Below, they are calendar days. */
const WEEK_S = 7 * DAY_S;
const UNITS = [
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** @returns the calendar day in the browser's time zone, in days since 1970 */
function calendarDay(timestamp: number): number {
  const date = new Date(timestamp);
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / (DAY_S * 1_000);
}

/**
 * Formats a time relative to now: "3 minutes ago", "in 2 days".
 * @param at time in milliseconds since 1970
 * @param now current time in milliseconds since 1970
 */
export function formatRelativeTime(at: number, now: number): string {
  // `now` can be up to ten seconds old, so a time that is just ahead of it has already passed.
  const isNow = at > now && at - now < 12_000;
  const seconds = isNow ? 0 : Math.round((at - now) / 1_000);
  const distance = Math.abs(seconds);
  // Calendar days: on Saturday evening, Monday morning is in 2 days, although it is less than 48 hours away.
  if (distance >= DAY_S && distance < WEEK_S)
    return relative.format(calendarDay(at) - calendarDay(now), "day");
  if (distance >= WEEK_S) return relative.format(Math.trunc(seconds / DAY_S), "day");
  const [unit, length] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? UNITS[2];
  return relative.format(Math.trunc(seconds / length), unit);
}

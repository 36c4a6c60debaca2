/** How far a moment is away, in words. */
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

const DAY_S = 86_400;
/** From here on nobody counts by the calendar: 30 days are 30 times 24 hours. */
const WEEK_S = 7 * DAY_S;
const UNITS = [
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** Which day of the calendar it is in the zone of who looks, counted from 1970. */
function dayOf(moment: number): number {
  const date = new Date(moment);
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / (DAY_S * 1_000);
}

/**
 * "3 minutes ago", "in 2 days".
 * @param at the moment, in milliseconds since 1970, as `now`
 */
export function formatRelativeTime(at: number, now: number): string {
  // What has just happened is not ahead of us, though `now` may be a little behind.
  const behind = at > now && at - now < 12_000;
  const seconds = behind ? 0 : Math.round((at - now) / 1_000);
  const distance = Math.abs(seconds);
  // On Saturday evening, Monday morning is not tomorrow, though it is less than two days away.
  if (distance >= DAY_S && distance < WEEK_S) return relative.format(dayOf(at) - dayOf(now), "day");
  if (distance >= WEEK_S) return relative.format(Math.trunc(seconds / DAY_S), "day");
  const [unit, length] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? UNITS[2];
  return relative.format(Math.trunc(seconds / length), unit);
}

const DAY = new Intl.DateTimeFormat("en-GB", {
  timeZone: "UTC",
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
});

/** Formats a local time with its offset: `2026-02-13T08:00:00+01:00` as "Fri, 13 Feb 2026, 08:00 (UTC+01:00)". */
export function formatZonedTime(time: string): string {
  const [local, offset] = [time.slice(0, 19), time.slice(19)];
  return `${DAY.format(Date.parse(`${local}Z`))}, ${local.slice(11).replace(/:00$/, "")} (UTC${offset})`;
}

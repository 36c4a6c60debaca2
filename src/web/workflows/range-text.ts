/** The range of a backfill in words, in the time zone of its schedule: as it was typed. */
import * as texts from "#texts/workflows";
import type { Backfill } from "../../../schemas/backfill.ts";
import { locale } from "../locale/locale.ts";

/**
 * Such as "Oct 1, 2026 to Oct 31, 2026 (Europe/Berlin)"; with times where an end is not that of a day.
 * @param wanted the locale; that of the page by default
 */
export function rangeText(
  { from, to, timezone }: Pick<Backfill, "from" | "to" | "timezone">,
  wanted: string = locale,
): string {
  const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone: timezone });
  const isWhole =
    clock.format(Date.parse(from)) === "00:00:00" && clock.format(Date.parse(to)) === "23:59:59";
  const format = new Intl.DateTimeFormat(wanted, {
    dateStyle: "medium",
    ...(!isWhole && { timeStyle: "medium" }),
    timeZone: timezone,
  });
  const [first, last] = [format.format(Date.parse(from)), format.format(Date.parse(to))];
  return isWhole && first === last
    ? texts.dayText({ day: first, timezone })
    : texts.rangeText({ from: first, to: last, timezone });
}

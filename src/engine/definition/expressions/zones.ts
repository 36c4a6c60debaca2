/** The time zones of an evaluation. */
import { type TimeZone, timeZone } from "../../../core/time-zone.ts";
import { charge, chargeText } from "./evaluation-context.ts";
import { throwFailed } from "./failures.ts";
import type { CallContext } from "./functions.ts";

export const UNKNOWN_ZONE = {
  message: "names an unknown time zone",
  fix: "Write it as Europe/Berlin or +02:00.",
} as const;

const UTC: TimeZone = { toLocal: (moment) => moment, toMoment: (local) => local };

/** Work of finding one local time, and of making a zone, as charged to the evaluation. */
const READ_COST = 250;
const ZONE_COST = 5_000;

/** Maximum length of a name, in characters: `Intl` needs long for a long unknown one, and quotes it. The longest has 32. */
const MAX_NAME = 100;

/** @throws RangeError for an unknown name. CEL allows an offset without a sign. */
export function namedZone(name: string): TimeZone {
  if (name.length > MAX_NAME) throw new RangeError("The name of the time zone is too long.");
  return timeZone(name.replace(/^(?=\d\d:\d\d$)/, "+"));
}

/**
 * Returns a time zone whose use is charged to the evaluation; UTC for undefined.
 * @throws StepError expression_failed for an unknown one
 */
export function zoneOf({ evaluation, location }: CallContext, name: unknown): TimeZone {
  if (name === undefined || name === "UTC") return UTC;
  let zone = evaluation.timeZones.get(name as string);
  if (zone === undefined) {
    charge(evaluation, ZONE_COST);
    chargeText(evaluation, (name as string).length);
    try {
      zone = namedZone(name as string);
    } catch {
      return throwFailed(location, UNKNOWN_ZONE.message, { fix: UNKNOWN_ZONE.fix });
    }
    evaluation.timeZones.set(name as string, zone);
  }
  const { toLocal, toMoment } = zone;
  return {
    toLocal: (moment) => (charge(evaluation, READ_COST), toLocal(moment)),
    toMoment: (local) => (charge(evaluation, 6 * READ_COST), toMoment(local)),
  };
}

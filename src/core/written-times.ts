/** Reads texts that write a date or a time. (Child processes load this file.) */
import { DAY, HOUR, MINUTE, SECOND } from "./clock.ts";

/** RFC 3339, with what databases and programming languages write beside it: spaces, offsets without minutes or with seconds. */
const FORMAT =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?: ?([Zz])| ?([+-])(\d\d)(?::?(\d\d)(?::?(\d\d))?)?)?)?$/;

export interface WrittenTime {
  /** The whole second that a clock in its zone shows, in milliseconds since 1970 if the zone were UTC. */
  local: number;
  /** The digits after the second. */
  fraction: string;
  /** In milliseconds, if the text has one. */
  offset?: number;
}

/** @returns the part that does not exist, or undefined for a text in another form */
export function readWrittenTime(text: string): WrittenTime | "date" | "time of day" | "offset" | undefined {
  const match = FORMAT.exec(text);
  if (match === null) return undefined;
  const [year, month, day, ...clock] = match.slice(1, 7).map((part) => Number(part ?? 0));
  const [fraction = "", zulu, sign, ...shift] = match.slice(7);
  const date = new Date(0);
  date.setUTCFullYear(year!, month! - 1, day);
  if (date.getUTCMonth() !== month! - 1 || date.getUTCDate() !== day) return "date";
  const time = toMilliseconds(clock);
  if (time === undefined) return "time of day";
  const offset = toMilliseconds(shift.map((part) => Number(part ?? 0)));
  if (offset === undefined) return "offset";
  return {
    local: date.getTime() + time,
    fraction,
    ...((zulu !== undefined || sign !== undefined) && { offset: sign === "-" ? -offset : offset }),
  };
}

/** @returns undefined if a clock can't show it */
const toMilliseconds = ([hours = 0, minutes = 0, seconds = 0]: readonly number[]): number | undefined =>
  hours * HOUR < DAY && minutes * MINUTE < HOUR && seconds * SECOND < MINUTE
    ? hours * HOUR + minutes * MINUTE + seconds * SECOND
    : undefined;

/**
 * Local times of a time zone, across the changes of its clock. A local time is given in milliseconds, as if it were UTC:
 * 02:30 in Berlin is the number of 02:30 UTC.
 */
import { DAY, iso, MINUTE, SECOND } from "./clock.ts";

export interface TimeZone {
  /** The local time at a moment (both in milliseconds). */
  toLocal(moment: number): number;
  /**
   * The first moment at which the clock shows a local time (both in milliseconds). For a local time that the clock leaves
   * out: the moment at which it jumps past it.
   */
  toMoment(local: number): number;
}

/** A moment as the format below shows it, such as `11/29/2026 AD, 08:05:09`. To read it takes a quarter of the time of its parts. */
const SHOWN = /^(\d+)\/(\d+)\/(\d+) (AD|BC), (\d+):(\d+):(\d+)$/;

/** @param name an IANA name, or an offset such as `+02:00` @throws RangeError for an unknown name */
export function timeZone(name: string): TimeZone {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: name,
    hourCycle: "h23",
    era: "short",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });

  /** Local time minus UTC at a moment, in milliseconds. */
  function offsetAt(moment: number): number {
    const shown = SHOWN.exec(format.format(moment))!;
    const [month, day, year] = [Number(shown[1]), Number(shown[2]), Number(shown[3])];
    const local = new Date(0);
    local.setUTCFullYear(shown[4] === "AD" ? year : 1 - year, month - 1, day);
    local.setUTCHours(Number(shown[5]), Number(shown[6]), Number(shown[7]));
    return local.getTime() - Math.floor(moment / SECOND) * SECOND;
  }

  /** The moment in (from, to] at which the offset is no longer that of `from`, to the second. */
  function changeBetween(from: number, to: number): number {
    const before = offsetAt(from);
    let [low, high] = [Math.floor(from / SECOND), Math.ceil(to / SECOND)];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (offsetAt(middle * SECOND) === before) low = middle;
      else high = middle;
    }
    return high * SECOND;
  }

  return {
    toLocal: (moment) => moment + offsetAt(moment),

    toMoment(local) {
      // The offsets before and after a change of the clock near this time; without one they are equal.
      const [before, after] = [offsetAt(local - DAY), offsetAt(local + DAY)];
      const moments = before === after ? [local - before] : [local - before, local - after];
      const shown = moments.filter((moment) => moment + offsetAt(moment) === local);
      return shown.length > 0
        ? Math.min(...shown)
        : changeBetween(Math.min(...moments), Math.max(...moments));
    },
  };
}

const two = (value: number): string => String(value).padStart(2, "0");

/** Formats a moment (in milliseconds) as the local time of a zone, to the second, with its offset: `2026-01-05T08:00:00+01:00`. */
export function isoInZone(moment: number, { toLocal }: Pick<TimeZone, "toLocal">): string {
  const local = toLocal(moment);
  const offset = Math.round((local - moment) / MINUTE);
  const size = Math.abs(offset);
  return `${iso(local).slice(0, 19)}${offset < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

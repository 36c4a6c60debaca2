/** Reads texts as moments and spans of time, exactly or with a reason why not. */
import { DAY, HOUR, MINUTE, SECOND } from "../../../core/clock.ts";
import { readWrittenTime } from "../../../core/written-times.ts";
import { type ExactTime, fromNanos } from "./exact-times.ts";

const MAX_FRACTION_DIGITS = 9;

const ACCEPTED = "Write it as 2026-01-31T08:00:00Z or 2026-01-31, with a year from 0001 to 9999.";

export interface UnreadableTime {
  /** The issue of the text, as a predicate. */
  reason: string;
  fix: string;
}

/** A time as the clock of a zone shows it; with its offset in milliseconds, if the text has one. */
export interface LocalTime extends ExactTime {
  offset?: number;
}

export function readTime(text: string): LocalTime | UnreadableTime {
  const written = readWrittenTime(text);
  if (written === undefined) return unreadable(text);
  if (typeof written === "string")
    return invalid(`has ${written === "offset" ? "an" : "a"} ${written} that does not exist`);
  const { local, fraction, offset } = written;
  if (fraction.length > MAX_FRACTION_DIGITS)
    return invalid(
      `has ${fraction.length} digits after the second, and a timestamp has at most ${MAX_FRACTION_DIGITS}`,
    );
  const nanos = Number(fraction.padEnd(MAX_FRACTION_DIGITS, "0"));
  return {
    ms: local + Math.floor(nanos / 1e6),
    nanos: nanos % 1e6,
    ...(offset !== undefined && { offset }),
  };
}

const invalid = (reason: string): UnreadableTime => ({ reason, fix: ACCEPTED });

const INFINITE = /^[+-]?inf(?:inity)?$/i;
/** A year that has not four digits, or is before 1. */
const FAR_YEAR = /^[+-]?(?:\d{5,}|0000)-\d\d?-\d\d?|\bBC\b/i;

function unreadable(text: string): UnreadableTime {
  if (INFINITE.test(text))
    return {
      reason: "is not a moment",
      fix: "Handle it first, for example x == 'infinity' ? … : timestamp(x).",
    };
  return invalid(FAR_YEAR.test(text) ? "has a year outside 0001 to 9999" : "is in no known form");
}

/**
 * Texts that may be shown: infinities, and those that begin with a year and a month, with a day, a time of day and an offset in any
 * form. All others may be secrets, such as the number of a card.
 */
const SHOWN_TIME =
  /^(?=.{1,60}$)(?:[+-]?inf(?:inity)?|[+-]?\d{4,6}[-/]\d\d?(?:[-/]\d\d?)?(?:[T\s]+\d\d?(?::\d\d?){0,2}(?:[.,]\d{1,30})?)?\s*(?:[AP]M)?\s*(?:Z|[+-]\d\d?(?::?\d\d){0,2}|\(?(?:BC|AD)\)?)?)$/i;

/** The text in quotes if it may be shown, else its kind. */
export const shownTime = (text: string): string => (SHOWN_TIME.test(text) ? `"${text}"` : "text");

const UNITS: Readonly<Record<string, number>> = {
  d: DAY * 1e6,
  h: HOUR * 1e6,
  m: MINUTE * 1e6,
  s: SECOND * 1e6,
  ms: 1e6,
  us: 1e3,
  µs: 1e3,
  ns: 1,
};
const DURATION = /^([+-]?)((?:\d{1,15}(?:\.\d{1,9})?(?:d|h|ms|m|s|us|µs|ns)){1,10})$/;
const PART = /(\d+)(?:\.(\d+))?([a-zµ]+)/g;

/** @returns "too fine" for a part of a nanosecond, and undefined for text that is no duration */
export function readDuration(text: string): ExactTime | "too fine" | undefined {
  const match = DURATION.exec(text);
  if (match === null) return undefined;
  let total = 0n;
  for (const [, whole, fraction = "", unit] of match[2]!.matchAll(PART)) {
    const scale = 10n ** BigInt(fraction.length);
    const scaled = BigInt(whole! + fraction) * BigInt(UNITS[unit!]!);
    if (scaled % scale !== 0n) return "too fine";
    total += scaled / scale;
  }
  return fromNanos(match[1] === "-" ? -total : total);
}

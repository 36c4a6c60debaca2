/** Functions on timestamps and durations. Times of day are in UTC unless a time zone is passed. */
import { canonicalDigits, type ExactNumber, isExactNumber } from "../../../core/long-number-arithmetic.ts";
import { NUMBER } from "../../../core/shapes.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../../core/clock.ts";
import { MAX_DURATION_MS } from "./limits.ts";
import { throwFailed } from "./failures.ts";
import type { SourceLocation } from "./cel-parser.ts";
import type { CallContext, CelFunction, FunctionBody } from "./functions.ts";
import * as is from "./params.ts";
import { charge, chargeText } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";
import type { TimeZone } from "../../../core/time-zone.ts";
import type { Type } from "./typing.ts";
import { zoneOf } from "./zones.ts";
import { Duration, type ExactTime, exactTime, fromNanos, toDate, wholeMilliseconds } from "./exact-times.ts";
import { readDuration, readTime, shownTime } from "./read-time.ts";

const EARLIEST = Date.parse("0001-01-01T00:00:00Z");
const LATEST = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Makes a timestamp of the range that CEL has, years 1 to 9999.
 * @throws StepError expression_failed
 */
export function createTimestamp(place: SourceLocation, time: ExactTime): Date {
  if (!(time.ms >= EARLIEST && time.ms <= LATEST))
    throwFailed(place, "results in a timestamp outside the years 1 to 9999");
  return toDate(time);
}

const UTC_ZONE: TimeZone = { toLocal: (moment) => moment, toMoment: (local) => local };

/** Work of parsing a timestamp, apart from its length. */
const PARSE_COST = 110;

/** Charges for parsing a timestamp. */
export function chargeTimestamp(evaluation: Evaluation, text: string): void {
  charge(evaluation, PARSE_COST);
  chargeText(evaluation, text.length);
}

/** Parses RFC 3339. A date alone is its midnight, and a time without an offset is one of the zone. */
export function parseTimestamp(place: SourceLocation, text: string, zone: TimeZone = UTC_ZONE): Date {
  const time = readTime(text.trim());
  if ("reason" in time)
    return throwFailed(place, `converts ${shownTime(text.trim())} to a timestamp, which ${time.reason}`, {
      fix: time.fix,
    });
  const { ms, nanos, offset } = time;
  return offset === undefined
    ? momentOf(place, zone, time)
    : createTimestamp(place, { ms: ms - offset, nanos });
}

/** The first moment at which the clock of a zone shows a local time. A time that it leaves out has no digits of its own. */
export function momentOf(place: SourceLocation, zone: TimeZone, { ms, nanos }: ExactTime): Date {
  const moment = zone.toMoment(createTimestamp(place, { ms, nanos }).getTime());
  const isShown = nanos === 0 || zone.toLocal(moment) === ms;
  return createTimestamp(place, { ms: moment, nanos: isShown ? nanos : 0 });
}

const timestamp: FunctionBody = ([value, zone], call) => {
  const { evaluation, location } = call;
  if (zone !== undefined && typeof value !== "string")
    return throwFailed(location, "passes a time zone with a value that is not text", {
      fix: "Leave out the zone: only text without an offset needs one.",
    });
  if (value instanceof Date) return value;
  if (typeof value === "string") chargeTimestamp(evaluation, value);
  // CEL converts an int as seconds since 1970.
  return isExactNumber(value)
    ? createTimestamp(location, ofSeconds(location, value))
    : parseTimestamp(location, value as string, zoneOf(call, zone));
};

/** @throws StepError expression_failed for a part of a nanosecond */
function ofSeconds(location: SourceLocation, seconds: ExactNumber): ExactTime {
  const [whole = "0", fraction = ""] = canonicalDigits(seconds).split(".");
  if (fraction.length > 9)
    return throwFailed(
      location,
      `converts ${seconds} to a timestamp, which is no whole number of nanoseconds`,
      {
        fix: "Round the seconds first: round(x, 9).",
      },
    );
  const nanos = BigInt(whole + fraction.padEnd(9, "0"));
  return fromNanos(nanos);
}

/** @throws StepError expression_failed if it is longer than the range of timestamps */
export function createDuration(place: SourceLocation, { ms, nanos }: ExactTime): Duration {
  if (!(Math.abs(ms) <= MAX_DURATION_MS))
    throwFailed(place, "results in a duration of more than 9,999 years");
  return new Duration(ms, nanos);
}

/** Work of parsing a duration, apart from its length. */
const DURATION_COST = 50;

const duration: FunctionBody = ([value], { evaluation, location }) => {
  if (value instanceof Duration) return value;
  charge(evaluation, DURATION_COST);
  chargeText(evaluation, (value as string).length);
  const time = readDuration(value as string);
  if (time === undefined)
    return throwFailed(location, "converts text to a duration that does not contain one", {
      fix: "Write it as 90s, 1h30m or 2d.",
    });
  if (time === "too fine")
    return throwFailed(location, "converts text to a duration that is no whole number of nanoseconds", {
      fix: "Write it with fewer digits after the point.",
    });
  return createDuration(location, time);
};

/** Returns a date whose UTC parts are the local time of a zone. */
const toLocalTime = (call: CallContext, time: Date, zone: unknown): Date =>
  new Date(zoneOf(call, zone).toLocal(time.getTime()));

const MONTHS = "January,February,March,April,May,June,July,August,September,October,November,December".split(
  ",",
);
const DAYS = "Sunday,Monday,Tuesday,Wednesday,Thursday,Friday,Saturday".split(",");
/** The digits after the second, without those beyond the first ones. */
const fractionOf = (instant: Date, digits: number): string => {
  const nanos = instant.getUTCMilliseconds() * 1e6 + exactTime(instant).nanos;
  return String(nanos).padStart(9, "0").slice(0, digits);
};
const twoDigits = (value: number): string => String(value).padStart(2, "0");

/** The tokens of a date pattern: those of Unicode that need no language other than English. */
const FIELDS: Readonly<Record<string, (local: Date, instant: Date) => string>> = {
  yyyy: (at) => String(at.getUTCFullYear()).padStart(4, "0"),
  yy: (at) => twoDigits(at.getUTCFullYear() % 100),
  MMMM: (at) => MONTHS[at.getUTCMonth()]!,
  MMM: (at) => MONTHS[at.getUTCMonth()]!.slice(0, 3),
  MM: (at) => twoDigits(at.getUTCMonth() + 1),
  M: (at) => String(at.getUTCMonth() + 1),
  dd: (at) => twoDigits(at.getUTCDate()),
  d: (at) => String(at.getUTCDate()),
  EEEE: (at) => DAYS[at.getUTCDay()]!,
  EEE: (at) => DAYS[at.getUTCDay()]!.slice(0, 3),
  HH: (at) => twoDigits(at.getUTCHours()),
  H: (at) => String(at.getUTCHours()),
  hh: (at) => twoDigits(at.getUTCHours() % 12 || 12),
  h: (at) => String(at.getUTCHours() % 12 || 12),
  mm: (at) => twoDigits(at.getUTCMinutes()),
  m: (at) => String(at.getUTCMinutes()),
  ss: (at) => twoDigits(at.getUTCSeconds()),
  s: (at) => String(at.getUTCSeconds()),
  SSS: (_at, instant) => fractionOf(instant, 3),
  SSSSSS: (_at, instant) => fractionOf(instant, 6),
  SSSSSSSSS: (_at, instant) => fractionOf(instant, 9),
  a: (at) => (at.getUTCHours() < 12 ? "AM" : "PM"),
  XXX: (at, instant) => {
    const minutes = Math.round((at.getTime() - instant.getTime()) / MINUTE);
    if (minutes === 0) return "Z";
    return `${minutes < 0 ? "-" : "+"}${twoDigits(Math.floor(Math.abs(minutes) / 60))}:${twoDigits(Math.abs(minutes) % 60)}`;
  },
};

const TOKEN = /'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+|'/g;

/** Returns the issue of a date pattern; undefined if it is valid. */
function patternIssue(pattern: string): string | undefined {
  for (const [token, quoted, letter] of pattern.matchAll(TOKEN)) {
    if (token === "'" || (quoted === undefined && letter !== undefined && !Object.hasOwn(FIELDS, token))) {
      const tokens = Object.keys(FIELDS).join(", ");
      return `uses a date pattern with the unknown token ${token}, expected ${tokens}, or 'text' in single quotes`;
    }
  }
  return undefined;
}

const formatDate: FunctionBody = ([value, pattern, zone], call) => {
  chargeText(call.evaluation, (pattern as string).length);
  const issue = patternIssue(pattern as string);
  if (issue !== undefined) throwFailed(call.location, issue);
  return formatWithValidPattern([value, pattern, zone], call);
};

/** Work of formatting a time, and of each character of the pattern. */
const FORMAT_COST = 60;
const FORMAT_CHARACTER_COST = 6;

/** Formats with a pattern that was checked before. */
const formatWithValidPattern: FunctionBody = ([value, pattern, zone], call) => {
  if (typeof value === "string") chargeTimestamp(call.evaluation, value);
  const time = value instanceof Date ? value : parseTimestamp(call.location, value as string);
  const local = toLocalTime(call, time, zone);
  charge(call.evaluation, FORMAT_COST + FORMAT_CHARACTER_COST * (pattern as string).length);
  return (pattern as string).replace(TOKEN, (token: string, quoted?: string, letter?: string) => {
    if (quoted !== undefined) return quoted === "" ? "'" : quoted.replaceAll("''", "'");
    return letter === undefined ? token : FIELDS[token]!(local, time);
  });
};

const DAY_OF_YEAR = (at: Date): number =>
  Math.floor((at.getTime() - new Date(at.getTime()).setUTCMonth(0, 1)) / DAY);

/** As CEL defines them: months, days of the month and days of the year count from 0, `getDate` from 1. */
const PARTS: Readonly<Record<string, (at: Date) => number>> = {
  getFullYear: (at) => at.getUTCFullYear(),
  getMonth: (at) => at.getUTCMonth(),
  getDate: (at) => at.getUTCDate(),
  getDayOfMonth: (at) => at.getUTCDate() - 1,
  getDayOfWeek: (at) => at.getUTCDay(),
  getDayOfYear: DAY_OF_YEAR,
  getHours: (at) => at.getUTCHours(),
  getMinutes: (at) => at.getUTCMinutes(),
  getSeconds: (at) => at.getUTCSeconds(),
  getMilliseconds: (at) => at.getUTCMilliseconds(),
};
const TOTALS: Readonly<Record<string, number>> = {
  getHours: HOUR,
  getMinutes: MINUTE,
  getSeconds: SECOND,
  getMilliseconds: 1,
};

const partOf = (name: string): CelFunction => ({
  usage: `timestamp.${name}() or timestamp.${name}(zone)`,
  cost: 10,
  params: [{ kinds: name in TOTALS ? ["timestamp", "duration"] : ["timestamp"] }, is.zone],
  optional: 1,
  result: () => NUMBER,
  call: ([value, zone], call) =>
    value instanceof Duration
      ? Math.trunc(wholeMilliseconds(value) / TOTALS[name]!)
      : PARTS[name]!(toLocalTime(call, value as Date, zone)),
});

export const TIMESTAMP_TYPE: Type = { kind: "timestamp" };
const DURATION_TYPE: Type = { kind: "duration" };

export const TIME_FUNCTIONS: Readonly<Record<string, CelFunction>> = {
  timestamp: {
    usage: "timestamp(text) or timestamp(text, zone)",
    params: [{ kinds: ["string", "number", "timestamp"] }, is.zone],
    optional: 1,
    result: () => TIMESTAMP_TYPE,
    call: timestamp,
  },
  duration: {
    usage: "duration(text)",
    params: [{ kinds: ["string", "duration"] }],
    result: () => DURATION_TYPE,
    call: duration,
  },
  format_date: {
    usage: 'format_date(time, "yyyy-MM-dd") or format_date(time, "yyyy-MM-dd", zone)',
    params: [is.time, is.text, is.zone],
    optional: 1,
    result: is.returnsText,
    call: formatDate,
    prepare: ([, pattern]) => {
      if (typeof pattern !== "string") return undefined;
      const message = patternIssue(pattern);
      return message === undefined ? formatWithValidPattern : { code: "wrong_type", message };
    },
  },
  ...Object.fromEntries(Object.keys(PARTS).map((name) => [name, partOf(name)])),
};

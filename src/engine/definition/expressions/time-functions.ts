/** Functions on timestamps and durations. Times of day are those of UTC unless a zone is named. */
import { NUMBER } from "../../../core/shapes.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../../core/clock.ts";
import { MAX_DURATION_MS } from "./limits.ts";
import { throwFailed } from "./failures.ts";
import type { SourceLocation } from "./cel-parser.ts";
import type { CallContext, CelFunction, FunctionBody } from "./functions.ts";
import * as is from "./params.ts";
import { charge, chargeText } from "./evaluation-context.ts";
import type { Type } from "./typing.ts";
import { Duration } from "./values.ts";

const MOMENT =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:[Zz]|([+-])(\d\d):?(\d\d))?)?$/;

const EARLIEST = Date.parse("0001-01-01T00:00:00Z");
const LATEST = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * A moment, as far as CEL and ISO 8601 with four digits of a year know them.
 * @throws StepError expression_failed
 */
export function createTimestamp(place: SourceLocation, ms: number): Date {
  if (!(ms >= EARLIEST && ms <= LATEST)) throwFailed(place, "gives a time outside the years 1 to 9999");
  return new Date(ms);
}

/** Reads RFC 3339; a date alone is its midnight, and a time without a zone is UTC. */
function parseMoment(place: SourceLocation, text: string): Date {
  const match = MOMENT.exec(text.trim());
  const parts = match?.slice(1, 7).map((part) => Number(part ?? 0));
  if (match && parts) {
    const [year, month, day, hour, minute, second] = parts as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
    if (exists && hour < 24 && minute < 60 && second < 60) {
      const fraction = Math.trunc(Number(`0.${match[7] ?? 0}`) * SECOND);
      const offset =
        (Number(match[9] ?? 0) * HOUR + Number(match[10] ?? 0) * MINUTE) * (match[8] === "-" ? -1 : 1);
      return createTimestamp(
        place,
        date.getTime() + hour * HOUR + minute * MINUTE + second * SECOND + fraction - offset,
      );
    }
  }
  return throwFailed(place, "makes a timestamp of a text that is none", {
    fix: "Give it as 2026-01-31T08:00:00Z or 2026-01-31.",
  });
}

const timestamp: FunctionBody = ([value], { evaluation, location }) => {
  if (value instanceof Date) return value;
  if (typeof value === "string") chargeText(evaluation, value.length);
  // Seconds since 1970, as CEL converts whole numbers.
  return typeof value === "number"
    ? createTimestamp(location, value * SECOND)
    : parseMoment(location, value as string);
};

const UNITS: Readonly<Record<string, number>> = {
  d: DAY,
  h: HOUR,
  m: MINUTE,
  s: SECOND,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
};
const DURATION = /^([+-]?)((?:\d{1,15}(?:\.\d{1,9})?(?:d|h|ms|m|s|us|µs|ns)){1,10})$/;
const PART = /(\d+(?:\.\d+)?)([a-zµ]+)/g;

/** @throws StepError expression_failed where it is longer than CEL has it */
export function createDuration(place: SourceLocation, ms: number): Duration {
  if (!(Math.abs(ms) <= MAX_DURATION_MS)) throwFailed(place, "gives a duration of more than 9,999 years");
  return new Duration(ms);
}

const duration: FunctionBody = ([value], { evaluation, location }) => {
  if (value instanceof Duration) return value;
  chargeText(evaluation, (value as string).length);
  const match = DURATION.exec(value as string);
  if (!match) {
    return throwFailed(location, "makes a duration of a text that is none", {
      fix: "Give it as 90s, 1h30m or 2d.",
    });
  }
  let total = 0;
  for (const [, count, unit] of match[2]!.matchAll(PART)) total += Number(count) * UNITS[unit!]!;
  return createDuration(location, match[1] === "-" ? -total : total);
};

/** A date whose UTC parts are what the clocks in a zone show. */
function onClock({ evaluation, location }: CallContext, time: Date, zone: unknown): Date {
  if (zone === undefined || zone === "UTC") return time;
  let format = evaluation.timeZoneFormats.get(zone as string);
  if (format === undefined) {
    // A new formatter is work.
    charge(evaluation, 5_000);
    try {
      format = new Intl.DateTimeFormat("en-US", {
        timeZone: zone as string,
        hourCycle: "h23",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
        second: "numeric",
      });
    } catch {
      return throwFailed(location, "names no time zone", { fix: "Give it as Europe/Berlin or +02:00." });
    }
    evaluation.timeZoneFormats.set(zone as string, format);
  }
  charge(evaluation, 50);
  const parts = Object.fromEntries(
    format.formatToParts(time).map(({ type, value }) => [type, Number(value)]),
  );
  const shown = new Date(0);
  shown.setUTCFullYear(parts["year"]!, parts["month"]! - 1, parts["day"]);
  shown.setUTCHours(parts["hour"]!, parts["minute"], parts["second"], time.getUTCMilliseconds());
  return shown;
}

const MONTHS = "January,February,March,April,May,June,July,August,September,October,November,December".split(
  ",",
);
const DAYS = "Sunday,Monday,Tuesday,Wednesday,Thursday,Friday,Saturday".split(",");
const two = (value: number): string => String(value).padStart(2, "0");

/** What the letters of a date's pattern stand for (Unicode's, as far as they need no language but English). */
const FIELDS: Readonly<Record<string, (shown: Date, real: Date) => string>> = {
  yyyy: (at) => String(at.getUTCFullYear()).padStart(4, "0"),
  yy: (at) => two(at.getUTCFullYear() % 100),
  MMMM: (at) => MONTHS[at.getUTCMonth()]!,
  MMM: (at) => MONTHS[at.getUTCMonth()]!.slice(0, 3),
  MM: (at) => two(at.getUTCMonth() + 1),
  M: (at) => String(at.getUTCMonth() + 1),
  dd: (at) => two(at.getUTCDate()),
  d: (at) => String(at.getUTCDate()),
  EEEE: (at) => DAYS[at.getUTCDay()]!,
  EEE: (at) => DAYS[at.getUTCDay()]!.slice(0, 3),
  HH: (at) => two(at.getUTCHours()),
  H: (at) => String(at.getUTCHours()),
  hh: (at) => two(at.getUTCHours() % 12 || 12),
  h: (at) => String(at.getUTCHours() % 12 || 12),
  mm: (at) => two(at.getUTCMinutes()),
  m: (at) => String(at.getUTCMinutes()),
  ss: (at) => two(at.getUTCSeconds()),
  s: (at) => String(at.getUTCSeconds()),
  SSS: (at) => String(at.getUTCMilliseconds()).padStart(3, "0"),
  a: (at) => (at.getUTCHours() < 12 ? "AM" : "PM"),
  XXX: (at, real) => {
    const minutes = Math.round((at.getTime() - real.getTime()) / MINUTE);
    if (minutes === 0) return "Z";
    return `${minutes < 0 ? "-" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
  },
};

const TOKEN = /'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+|'/g;

/** What is wrong with a date's pattern. */
function wrongPattern(pattern: string): string | undefined {
  for (const [token, quoted, letter] of pattern.matchAll(TOKEN)) {
    if (token === "'" || (quoted === undefined && letter !== undefined && !Object.hasOwn(FIELDS, token))) {
      const known = Object.keys(FIELDS).join(", ");
      return `uses a date's pattern in which ${token} stands for nothing; there are ${known}, and 'words' in quotes`;
    }
  }
  return undefined;
}

const formatDate: FunctionBody = ([value, pattern, zone], call) => {
  chargeText(call.evaluation, (pattern as string).length);
  const wrong = wrongPattern(pattern as string);
  if (wrong !== undefined) throwFailed(call.location, wrong);
  return formatKnown([value, pattern, zone], call);
};

const formatKnown: FunctionBody = ([value, pattern, zone], call) => {
  if (typeof value === "string") chargeText(call.evaluation, value.length);
  const time = value instanceof Date ? value : parseMoment(call.location, value as string);
  const shown = onClock(call, time, zone);
  charge(call.evaluation, (pattern as string).length);
  return (pattern as string).replace(TOKEN, (token: string, quoted?: string, letter?: string) => {
    if (quoted !== undefined) return quoted === "" ? "'" : quoted.replaceAll("''", "'");
    return letter === undefined ? token : FIELDS[token]!(shown, time);
  });
};

const DAY_OF_YEAR = (at: Date): number =>
  Math.floor((at.getTime() - new Date(at.getTime()).setUTCMonth(0, 1)) / DAY);

/** CEL's own names: months, days of the month and days of the year count from 0, `getDate` from 1. */
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
  params: [{ kinds: name in TOTALS ? ["timestamp", "duration"] : ["timestamp"] }, is.text],
  optional: 1,
  result: () => NUMBER,
  call: ([value, zone], call) =>
    value instanceof Duration
      ? Math.trunc(value.ms / TOTALS[name]!)
      : PARTS[name]!(onClock(call, value as Date, zone)),
});

const TIMESTAMP: Type = { kind: "timestamp" };
const SPAN: Type = { kind: "duration" };

export const TIME_FUNCTIONS: Readonly<Record<string, CelFunction>> = {
  timestamp: {
    usage: "timestamp(text)",
    params: [{ kinds: ["string", "number", "timestamp"] }],
    result: () => TIMESTAMP,
    call: timestamp,
  },
  duration: {
    usage: "duration(text)",
    params: [{ kinds: ["string", "duration"] }],
    result: () => SPAN,
    call: duration,
  },
  format_date: {
    usage: 'format_date(time, "yyyy-MM-dd") or format_date(time, "yyyy-MM-dd", zone)',
    params: [{ kinds: ["string", "timestamp"] }, is.text, is.text],
    optional: 1,
    result: is.returnsText,
    call: formatDate,
    prepare: ([, pattern]) => {
      if (typeof pattern !== "string") return undefined;
      const message = wrongPattern(pattern);
      return message === undefined ? formatKnown : { code: "wrong_type", message };
    },
  },
  ...Object.fromEntries(Object.keys(PARTS).map((name) => [name, partOf(name)])),
};

/** Calendar arithmetic: days, months and the starts of periods, in UTC unless a time zone is passed. */
import { DAY, HOUR } from "../../../core/clock.ts";
import { throwFailed } from "./failures.ts";
import type { CallContext, CelFunction } from "./functions.ts";
import * as is from "./params.ts";
import { type ExactTime, exactTime } from "./exact-times.ts";
import {
  chargeTimestamp,
  createTimestamp,
  momentOf,
  parseTimestamp,
  TIMESTAMP_TYPE,
} from "./time-functions.ts";
import { zoneOf } from "./zones.ts";

/** Reads a time argument: a timestamp, or its text. */
function timeOf({ evaluation, location }: CallContext, value: unknown): ExactTime {
  if (value instanceof Date) return exactTime(value);
  chargeTimestamp(evaluation, value as string);
  return exactTime(parseTimestamp(location, value as string));
}

/** Largest number of days, weeks, months or years that can be added: more leaves the range of timestamps. */
const MAX_COUNT = 4_000_000;

/** Work of moving a date. */
const MOVE_COST = 30;

/** Defines a function that moves the local time of a zone. */
const adding = (name: string, unit: string, move: (local: Date, count: number) => void): CelFunction => ({
  usage: `${name}(time, ${unit}) or ${name}(time, ${unit}, zone)`,
  cost: MOVE_COST,
  params: [is.time, is.number, is.zone],
  optional: 1,
  result: () => TIMESTAMP_TYPE,
  call: ([value, count, zoneName], call) => {
    const { location } = call;
    if (!Number.isInteger(count) || Math.abs(count as number) > MAX_COUNT)
      throwFailed(location, `adds a number of ${unit} that is not an integer from -4,000,000 to 4,000,000`);
    const zone = zoneOf(call, zoneName);
    const { ms, nanos } = timeOf(call, value);
    const local = new Date(zone.toLocal(ms));
    move(local, count as number);
    return momentOf(location, zone, { ms: local.getTime(), nanos });
  },
});

/** Moves a date by months. A day that the month lacks becomes its last one. */
function addMonths(local: Date, count: number): void {
  const day = local.getUTCDate();
  local.setUTCDate(1);
  local.setUTCMonth(local.getUTCMonth() + count);
  const lastDay = new Date(local.getTime());
  lastDay.setUTCMonth(local.getUTCMonth() + 1, 0);
  local.setUTCDate(Math.min(day, lastDay.getUTCDate()));
}

/** The ISO number of the day of the week: Monday is 1. */
const weekday = (local: Date): number => local.getUTCDay() || 7;

/** Sets a local time to the start of its period. The hour is handled apart: it may occur twice. */
const STARTS: Readonly<Record<string, (local: Date) => void>> = {
  day: () => undefined,
  week: (local) => local.setUTCDate(local.getUTCDate() - weekday(local) + 1),
  month: (local) => local.setUTCDate(1),
  quarter: (local) => local.setUTCMonth(local.getUTCMonth() - (local.getUTCMonth() % 3), 1),
  year: (local) => local.setUTCMonth(0, 1),
};
const UNITS = ["hour", ...Object.keys(STARTS)];
const UNIT_TEXT = UNITS.map((unit) => `"${unit}"`).join(", ");

const startOf: CelFunction["call"] = ([value, unit, zoneName], call) => {
  const zone = zoneOf(call, zoneName);
  const { ms } = timeOf(call, value);
  const local = zone.toLocal(ms);
  if (unit === "hour") return createTimestamp(call.location, { ms: ms - modulo(local, HOUR), nanos: 0 });
  const start = Object.hasOwn(STARTS, unit as string) ? STARTS[unit as string]! : undefined;
  if (start === undefined)
    return throwFailed(call.location, `names an unknown period, expected ${UNIT_TEXT}`);
  const date = new Date(local - modulo(local, DAY));
  start(date);
  return momentOf(call.location, zone, { ms: date.getTime(), nanos: 0 });
};

const modulo = (value: number, by: number): number => ((value % by) + by) % by;

const part = (name: string, read: (local: Date) => number): CelFunction => ({
  usage: `${name}(time) or ${name}(time, zone)`,
  params: [is.time, is.zone],
  optional: 1,
  result: is.returnsNumber,
  call: ([value, zoneName], call) => read(new Date(zoneOf(call, zoneName).toLocal(timeOf(call, value).ms))),
});

export const CALENDAR_FUNCTIONS: Readonly<Record<string, CelFunction>> = {
  add_days: adding("add_days", "days", (local, count) => local.setUTCDate(local.getUTCDate() + count)),
  add_weeks: adding("add_weeks", "weeks", (local, count) => local.setUTCDate(local.getUTCDate() + 7 * count)),
  add_months: adding("add_months", "months", addMonths),
  add_years: adding("add_years", "years", (local, count) => addMonths(local, 12 * count)),
  start_of: {
    cost: MOVE_COST,
    usage: `start_of(time, unit) or start_of(time, unit, zone), with a unit of ${UNIT_TEXT}`,
    params: [is.time, is.oneOf(UNITS, "names an unknown period"), is.zone],
    optional: 1,
    result: () => TIMESTAMP_TYPE,
    call: startOf,
  },
  day: part("day", (local) => local.getUTCDate()),
  month: part("month", (local) => local.getUTCMonth() + 1),
  weekday: part("weekday", weekday),
};

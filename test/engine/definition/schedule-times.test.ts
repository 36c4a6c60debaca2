import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { nextTimes, scheduleTimes } from "../../../src/engine/definition/schedule-times.ts";
import { caseCount, seededRandom, testSeed } from "../../support/random.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const iso = (at: number): string => new Date(at).toISOString();

/** Zones whose clocks change in different ways: by 30 minutes, at midnight, twice around Ramadan, for good. */
const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Africa/Cairo",
  "America/Asuncion",
  "America/Santiago",
  "America/Havana",
  "Africa/Casablanca",
  "Asia/Tehran",
  "Asia/Pyongyang",
  "America/Caracas",
  "Asia/Beirut",
];

const FORMS = [
  "0 2,14 * * *",
  "0,30 2 * * *",
  "*/20 2 * * *",
  "0 */2 * * *",
  "30 2 * * *",
  "30 2-3 * * *",
  "0 0 * * *",
  "30 0 * * *",
  "15,45 0,1,23 * * *",
  "0 */3 * * SUN",
  "10 1-3 * * 5-7",
  "59 23 * * *",
  "* 0-4 * * *",
  "0 * * * *",
  "*/20 * * * *",
  "15 */1 * * *",
  "5 0-23 * * 6,0",
];

// A second implementation, which shares nothing with the first: it looks at the clock of the zone minute by minute.

const NAMES = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

function fieldValues(field: string, from: number, to: number): Set<number> {
  const values = new Set<number>();
  for (const part of field.split(",")) {
    const [range, step = "1"] = part.split("/") as [string, string?];
    const number = (text: string): number => (NAMES.includes(text) ? NAMES.indexOf(text) : Number(text));
    const [low, high = low] = range === "*" ? [from, to] : range.split("-").map(number);
    for (let value = low!; value <= high!; value += Number(step)) values.add(value);
  }
  return values;
}

interface Pattern {
  everyHour: boolean;
  matches(local: Date): boolean;
}

/** Reads an expression with `*` as day and month. */
function parsePattern(cron: string): Pattern {
  const fields = cron.split(" ");
  if (fields.length === 5) fields.unshift("0");
  const [second, minute, hour] = fields as [string, string, string];
  const seconds = fieldValues(second, 0, 59);
  const minutes = fieldValues(minute, 0, 59);
  const hours = fieldValues(hour, 0, 23);
  const weekdays = new Set([...fieldValues(fields[5]!, 0, 6)].map((day) => day % 7));
  return {
    everyHour: hours.size === 24,
    matches: (local) =>
      seconds.has(local.getUTCSeconds()) &&
      minutes.has(local.getUTCMinutes()) &&
      hours.has(local.getUTCHours()) &&
      weekdays.has(local.getUTCDay()),
  };
}

function clockOf(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" });
  return (at) => Date.parse(`${format.format(at).replace(" ", "T")}Z`);
}

/** Every moment in a window, with what the clock shows then. */
function readings(
  timeZone: string,
  from: number,
  to: number,
  step = MINUTE,
): { at: number; local: number }[] {
  const clock = clockOf(timeZone);
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => {
    const at = from + index * step;
    return { at, local: clock(at) };
  });
}

/** The first moment at which the clock shows a local time or a later one, for each local time of the pattern. */
function expectedTimes(
  cron: string,
  window: readonly { at: number; local: number }[],
  step = MINUTE,
): number[] {
  const pattern = parsePattern(cron);
  if (pattern.everyHour)
    return window.filter(({ local }) => pattern.matches(new Date(local))).map(({ at }) => at);
  const times = new Set<number>();
  const latest = Math.max(...window.map(({ local }) => local));
  let next = 0;
  for (let { local } = window[0]!; local <= latest; local += step) {
    while (window[next]!.local < local) next += 1;
    if (pattern.matches(new Date(local))) times.add(window[next]!.at);
  }
  return [...times];
}

/** The changes of a clock from 2016 to 2026, in milliseconds, by looking at every noon, then at every hour, then at every minute. */
function clockChanges(timeZone: string): number[] {
  const clock = clockOf(timeZone);
  const offset = (at: number): number => clock(at) - at;
  const changes: number[] = [];
  for (let day = Date.parse("2016-01-01T12:00:00Z"); day < Date.parse("2026-12-31T00:00:00Z"); day += DAY) {
    if (offset(day) === offset(day + DAY)) continue;
    let at = day;
    while (offset(at + HOUR) === offset(day)) at += HOUR;
    while (offset(at) === offset(day)) at += MINUTE;
    changes.push(at);
  }
  return changes;
}

function actualTimes(cron: string, timezone: string, from: number, to: number): number[] {
  const { next } = scheduleTimes({ cron, timezone });
  const times: number[] = [];
  for (let at = next(from - 1); at !== null && at <= to; at = next(at)) times.push(at);
  return times;
}

describe("the times of a schedule", () => {
  const random = seededRandom(testSeed("schedule times"));
  const pick = (count: number): number => Math.floor(random() * count);
  const randomField = (max: number): string => {
    const [low, high] = [pick(max), pick(max)].toSorted((a, b) => a - b) as [number, number];
    return [
      `${low}`,
      `${low},${high}`,
      `${low}-${high}`,
      `*/${1 + pick(7)}`,
      `${low}-${high}/${1 + pick(4)}`,
    ][pick(5)]!;
  };
  const randomForm = (): string =>
    `${randomField(60)} ${randomField(random() < 0.7 ? 5 : 24)} * * ${["*", "*", "SUN", "5-6"][pick(4)]}`;

  it.each(ZONES.slice(0, caseCount(3, ZONES.length)))(
    "are those of a second implementation at every change of the clock in %s",
    (timezone) => {
      const changes = clockChanges(timezone);
      expect(changes.length).toBeGreaterThan(0);
      const differences: string[] = [];
      for (const change of changes) {
        // Local times before the window are not in it, so it begins well before the change.
        const [from, to] = [change - 4 * HOUR, change + 6 * HOUR];
        const window = readings(timezone, from, to);
        for (const cron of [...FORMS, randomForm(), randomForm(), randomForm()]) {
          const expected = expectedTimes(cron, window);
          const { next, last } = scheduleTimes({ cron, timezone });
          // From any moment, also within the hour that occurs twice and between two seconds.
          const moments = [1, 2, 3].map(() => from + pick(to - from));
          const before = (at: number): number[] => expected.filter((time) => time <= at).slice(-2);
          const found = {
            all: actualTimes(cron, timezone, from, to),
            next: moments.map(next).filter((time) => time! <= to),
            last: moments.filter((at) => before(at).length === 2).map((at) => last(2, at)),
          };
          const wanted = {
            all: expected,
            next: moments.flatMap((at) => expected.find((time) => time > at) ?? []),
            last: moments.map(before).filter(({ length }) => length === 2),
          };
          if (!isDeepStrictEqual(found, wanted))
            differences.push(JSON.stringify({ cron, change: iso(change), moments, found, wanted }));
        }
      }
      expect(differences).toEqual([]);
    },
  );

  it.each([
    ["Europe/Berlin", "2026-03-29T01:00:00Z"],
    ["Europe/Berlin", "2026-10-25T01:00:00Z"],
    ["Australia/Lord_Howe", "2026-04-04T15:00:00Z"],
    ["Australia/Lord_Howe", "2026-10-03T15:30:00Z"],
  ])("have seconds too (%s, %s)", (timezone, change) => {
    const [from, to] = [Date.parse(change) - 2 * HOUR, Date.parse(change) + 3 * HOUR];
    const window = readings(timezone, from, to, SECOND);
    for (const cron of ["*/20 15,45 1-2 * * *", "30 */10 2 * * *", "0,59 * * * * *", "* 59 1 * * *"]) {
      expect(actualTimes(cron, timezone, from, to).map(iso)).toEqual(
        expectedTimes(cron, window, SECOND).map(iso),
      );
    }
  });

  it("include those of a day that the clock leaves out, when the next day begins", () => {
    // Samoa went from 29 to 31 December 2011.
    const times = nextTimes(
      { cron: "0 8,20 * * *", timezone: "Pacific/Apia" },
      Date.parse("2011-12-29T20:00:00Z"),
      3,
    );
    expect(times.map(iso)).toEqual([
      "2011-12-30T06:00:00.000Z",
      "2011-12-30T10:00:00.000Z",
      "2011-12-30T18:00:00.000Z",
    ]);
  });

  it("are none for a date that never comes, and rare for a leap day", () => {
    expect(nextTimes({ cron: "0 0 30 2 *", timezone: "Europe/Berlin" }, 0, 1)).toEqual([]);
    const leap = { cron: "0 12 29 2 *", timezone: "UTC" };
    expect(scheduleTimes(leap).last(2, Date.parse("2027-01-01T00:00:00Z")).map(iso)).toEqual([
      "2020-02-29T12:00:00.000Z",
      "2024-02-29T12:00:00.000Z",
    ]);
  });
});

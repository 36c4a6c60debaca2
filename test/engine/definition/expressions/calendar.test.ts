import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkCel } from "../../../../src/engine/definition/expressions/index.ts";
import { evaluate, failure, typeScope } from "./scope.ts";

const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Asia/Kathmandu",
  "America/Sao_Paulo",
  "Africa/Cairo",
  "America/Havana",
  "Asia/Gaza",
  "Pacific/Apia",
];
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const FORMATS = new Map(
  ZONES.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat("sv-SE", {
      timeZone,
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    }),
  ]),
);

/** The local time of a zone, computed by the formatter of the platform: 2026-03-29 02:30:00. */
const localOf = (moment: number, zone: string): string => FORMATS.get(zone)!.format(moment);
/** Reads such a text as if it were UTC. */
const asUtc = (local: string): number => Date.parse(`${local.replace(" ", "T")}Z`);
const asLocal = (utc: number): string => new Date(utc).toISOString().slice(0, 19).replace("T", " ");

/** Every moment near a local time at which the clock shows it, in order, found by trying every quarter of an hour. */
function momentsOf(local: string, zone: string): number[] {
  const found: number[] = [];
  for (let moment = asUtc(local) - 30 * HOUR; moment <= asUtc(local) + 30 * HOUR; moment += 15 * MINUTE)
    if (localOf(moment, zone) === local) found.push(moment);
  return found;
}

/** Checks that a moment is the first that shows a local time; or, if none does, the one at which the clock jumps past it. */
function isFirstAt(moment: number, local: string, zone: string): boolean {
  const shown = momentsOf(local, zone);
  if (shown.length > 0) return shown[0] === moment;
  return localOf(moment - 1_000, zone) < local && localOf(moment, zone) > local;
}

const two = (value: number): string => String(value).padStart(2, "0");

const momentOf = (source: string, inputs: Record<string, unknown>): number =>
  Date.parse(evaluate(source, inputs) as string);

/** Times on a minute grid, most of them within a day of a change of the clock in spring or autumn. */
const moments = fc
  .tuple(
    fc.integer({ min: 2005, max: 2035 }),
    fc.constantFrom(0, 1, 2, 3, 8, 9, 10, 11),
    fc.integer({ min: 1, max: 31 }),
    fc.integer({ min: 0, max: 95 }),
  )
  .map(([year, month, day, quarter]) => Date.UTC(year, month, day) + quarter * 15 * MINUTE);
const zones = fc.constantFrom(...ZONES);

describe("calendar arithmetic in a time zone", () => {
  it("keeps the local time when it adds days and weeks", () => {
    fc.assert(
      fc.property(moments, zones, fc.integer({ min: -400, max: 400 }), (moment, zone, days) => {
        const inputs = { t: new Date(moment).toISOString(), zone, days };
        const expected = asLocal(asUtc(localOf(moment, zone)) + days * DAY);
        expect(
          isFirstAt(momentOf("add_days(inputs.t, inputs.days, inputs.zone)", inputs), expected, zone),
        ).toBe(true);
        const weeks = asLocal(asUtc(localOf(moment, zone)) + days * 7 * DAY);
        expect(isFirstAt(momentOf("inputs.t.add_weeks(inputs.days, inputs.zone)", inputs), weeks, zone)).toBe(
          true,
        );
      }),
      { numRuns: 150 },
    );
  });

  it("adds months and years, up to the last day of the month", () => {
    fc.assert(
      fc.property(moments, zones, fc.integer({ min: -40, max: 40 }), (moment, zone, months) => {
        const inputs = { t: new Date(moment).toISOString(), zone, months };
        for (const [source, count] of [
          ["add_months(inputs.t, inputs.months, inputs.zone)", months],
          ["add_years(inputs.t, inputs.months, inputs.zone)", 12 * months],
        ] as const) {
          const local = localOf(moment, zone);
          const [year, month, day] = local.slice(0, 10).split("-").map(Number) as [number, number, number];
          const total = year * 12 + (month - 1) + count;
          const [toYear, toMonth] = [Math.floor(total / 12), (total % 12) + 1];
          const last = [
            31,
            toYear % 4 === 0 && (toYear % 100 !== 0 || toYear % 400 === 0) ? 29 : 28,
            31,
            30,
            31,
            30,
            31,
            31,
            30,
            31,
            30,
            31,
          ][toMonth - 1]!;
          const expected = `${toYear}-${two(toMonth)}-${two(Math.min(day, last))}${local.slice(10)}`;
          expect(isFirstAt(momentOf(source, inputs), expected, zone)).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });

  it("finds the first moment of a day, week, month, quarter and year", () => {
    const period: Record<string, (local: string) => string> = {
      day: (local) => local.slice(0, 10),
      week: (local) => {
        const days = Math.floor(asUtc(local) / DAY);
        return String(Math.floor((days + 3) / 7));
      },
      month: (local) => local.slice(0, 7),
      quarter: (local) => `${local.slice(0, 4)} ${Math.floor((Number(local.slice(5, 7)) - 1) / 3)}`,
      year: (local) => local.slice(0, 4),
    };
    fc.assert(
      fc.property(moments, zones, fc.constantFrom(...Object.keys(period)), (moment, zone, unit) => {
        const inputs = { t: new Date(moment).toISOString(), zone, unit };
        const start = momentOf("start_of(inputs.t, inputs.unit, inputs.zone)", inputs);
        const idOf = (at: number): string => period[unit]!(localOf(at, zone));
        expect(start).toBeLessThanOrEqual(moment);
        expect([idOf(start), idOf(start - 1_000) === idOf(moment)]).toEqual([idOf(moment), false]);
      }),
      { numRuns: 300 },
    );
  });

  it("finds the start of an hour, also of one that occurs twice", () => {
    fc.assert(
      fc.property(moments, fc.constantFrom("UTC", "Europe/Berlin", "Asia/Kathmandu"), (moment, zone) => {
        const start = momentOf("start_of(inputs.t, 'hour', inputs.zone)", {
          t: new Date(moment).toISOString(),
          zone,
        });
        expect(moment - start).toBeLessThan(HOUR);
        expect(moment).toBeGreaterThanOrEqual(start);
        expect(localOf(start, zone).slice(14)).toBe("00:00");
      }),
      { numRuns: 200 },
    );
    // 02:30 summer time and 02:30 winter time.
    expect(
      evaluate(
        "['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map(t, start_of(t, 'hour', 'Europe/Berlin'))",
      ),
    ).toEqual(["2026-10-25T00:00:00.000Z", "2026-10-25T01:00:00.000Z"]);
  });

  it("reads days, months and weekdays from 1, and the local time of a text", () => {
    fc.assert(
      fc.property(moments, zones, (moment, zone) => {
        const inputs = { t: new Date(moment).toISOString(), zone, local: localOf(moment, zone) };
        const local = new Date(asUtc(inputs.local));
        expect(
          evaluate(
            "[inputs.t.day(inputs.zone), month(inputs.t, inputs.zone), weekday(inputs.t, inputs.zone)]",
            inputs,
          ),
        ).toEqual([local.getUTCDate(), local.getUTCMonth() + 1, ((local.getUTCDay() + 6) % 7) + 1]);
        expect(isFirstAt(momentOf("timestamp(inputs.local, inputs.zone)", inputs), inputs.local, zone)).toBe(
          true,
        );
      }),
      { numRuns: 200 },
    );
  });
});

describe("calendar functions", () => {
  it.each([
    ["add_days('2026-01-31', 1)", "2026-02-01T00:00:00.000Z"],
    ["timestamp('2026-01-31T10:00:00Z').add_months(1)", "2026-02-28T10:00:00.000Z"],
    ["add_years('2024-02-29', 1)", "2025-02-28T00:00:00.000Z"],
    ["add_months('2026-01-31', -2)", "2025-11-30T00:00:00.000Z"],
    ["add_days('2026-03-28T02:30:00+01:00', 1, 'Europe/Berlin')", "2026-03-29T01:00:00.000Z"],
    ["start_of('2026-11-22T15:04:05Z', 'week')", "2026-11-16T00:00:00.000Z"],
    ["start_of(run.started_at, 'quarter', 'Europe/Berlin')", "2026-09-30T22:00:00.000Z"],
    ["timestamp('2026-07-01T08:00', 'Europe/Berlin')", "2026-07-01T06:00:00.000Z"],
    ["timestamp('2026-07-01', 'Europe/Berlin')", "2026-06-30T22:00:00.000Z"],
    ["timestamp('2026-07-01T08:00:00+00:00', 'Europe/Berlin')", "2026-07-01T08:00:00.000Z"],
    ["weekday('2026-11-22')", 7],
    ["weekday('2026-11-23')", 1],
    ["day('2026-11-30T23:30:00Z', 'Europe/Berlin')", 1],
    ["month('2026-11-30T23:30:00Z', 'Europe/Berlin')", 12],
    ["timestamp('2026-01-01T00:00:00Z').getHours('02:00')", 2],
    // The last working day of a month.
    [
      "range(7).map(n, add_days(add_days(start_of(add_months('2026-05-10', 1), 'month'), -1), -n)).filter(d, d.weekday() < 6)[0]",
      "2026-05-29T00:00:00.000Z",
    ],
  ])("%s is %s", (source, value) => {
    expect(evaluate(source)).toBe(value);
  });

  it.each([
    ["add_days('2026-01-01', 1.5)", "not an integer"],
    ["add_years('2026-01-01', 9000)", "outside the years 1 to 9999"],
    ["start_of('2026-01-01', inputs.name)", "unknown period"],
    ["add_days('2026-13-01', 1)", "has a date that does not exist"],
    ["timestamp(1, 'Europe/Berlin')", "passes a time zone with a value that is not text"],
    ["add_days('2026-01-01', 1, inputs.name)", "names an unknown time zone"],
  ])("%s fails: %s", (source, message) => {
    expect(failure(source)).toMatchObject({
      code: "expression_failed",
      message: expect.stringContaining(message),
    });
  });

  it.each([
    ["add_days(run.started_at, 1, 'Europe/Berln')", "Europe/Berlin"],
    ["format_date(run.started_at, 'yyyy', 'Europa/Berlin')", "Europe/Berlin"],
    ["timestamp(run.started_at).getHours('Mars/Base')", undefined],
    ["start_of(run.started_at, 'weak')", "week"],
    ["steps.revenue.rows.map(r, r.total).sort('desk')", "desc"],
  ])("%s is an issue before any run", (source, near) => {
    const { issues } = checkCel(source, typeScope);
    expect(issues).toMatchObject([{ code: "not_allowed", fix: expect.any(String) }]);
    expect(issues[0]!.did_you_mean).toBe(near);
  });
});

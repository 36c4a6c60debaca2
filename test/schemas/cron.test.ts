import { CronPattern } from "croner";
import { describe, expect, it } from "vitest";
import { type CronExpression, type CronField, readCron, valuesOf } from "../../schemas/cron.ts";
import { cronPatterns } from "../support/cron-patterns.ts";
import { caseCount, seededRandom, testSeed } from "../support/random.ts";

/** How the library that computes the times reads an expression; undefined where it refuses it. */
function croner(cron: string): CronPattern | undefined {
  try {
    return new CronPattern(cron, undefined, { mode: "5-or-6-parts" });
  } catch {
    return undefined;
  }
}

const set = (values: readonly number[], first: number): number[] =>
  values.flatMap((value, index) => (value === 0 ? [] : [index + first]));

/** The weekdays with the bits of their weeks: 1 to 16 for the first to the fifth, 32 for the last one. */
function weekdayBits({ parts }: CronExpression): number[] {
  const bits = Array<number>(7).fill(0);
  for (const part of parts.weekday.filter(({ kind }) => kind === "range")) {
    const { nth } = part as { nth?: number | "last" };
    const bit = nth === undefined ? 63 : nth === "last" ? 32 : 2 ** (nth - 1);
    for (const day of valuesOf(part as never, "weekday")) bits[day]! |= bit;
  }
  return bits;
}

function fieldValues({ parts }: CronExpression, field: CronField): number[] {
  const values = parts[field].flatMap((part) => (part.kind === "range" ? valuesOf(part, field) : []));
  return [...new Set(values)].toSorted((a, b) => a - b);
}

const ofUs = (expression: CronExpression) => ({
  second: fieldValues(expression, "second"),
  minute: fieldValues(expression, "minute"),
  hour: fieldValues(expression, "hour"),
  day: fieldValues(expression, "day"),
  month: fieldValues(expression, "month"),
  weekday: weekdayBits(expression),
  last: expression.parts.day.some(({ kind }) => kind === "last_day"),
  lastWorking: expression.parts.day.some(({ kind }) => kind === "last_working_day"),
  nearest: expression.parts.day
    .flatMap((part) => (part.kind === "nearest_working_day" ? part.day : []))
    .toSorted((a, b) => a - b)
    .filter((day, index, days) => day !== days[index - 1]),
  days: expression.days,
});

const ofCroner = (pattern: CronPattern): ReturnType<typeof ofUs> => ({
  second: set(pattern.second, 0),
  minute: set(pattern.minute, 0),
  hour: set(pattern.hour, 0),
  day: set(pattern.day, 1),
  month: set(pattern.month, 1),
  weekday: pattern.dayOfWeek.slice(0, 7),
  last: pattern.lastDayOfMonth,
  lastWorking: pattern.lastWeekday,
  nearest: set(pattern.nearestWeekdays, 1),
  days: pattern.starDOM
    ? pattern.starDOW
      ? "any"
      : "weekday"
    : pattern.starDOW
      ? "day"
      : pattern.useAndLogic
        ? "and"
        : "or",
});

describe("readCron", () => {
  it("accepts what the library that computes the times accepts, with the same values", () => {
    const next = cronPatterns(seededRandom(testSeed("readCron")));
    const differences: object[] = [];
    let valid = 0;
    for (let left = caseCount(20_000, 500_000); left > 0; left -= 1) {
      const cron = next();
      const [read, pattern] = [readCron(cron), croner(cron)];
      const ours = "expression" in read ? ofUs(read.expression) : undefined;
      const theirs = pattern && ofCroner(pattern);
      if (theirs !== undefined) valid += 1;
      if (JSON.stringify(ours) !== JSON.stringify(theirs)) differences.push({ cron, ours, theirs });
    }
    expect(differences.slice(0, 5)).toEqual([]);
    expect(valid).toBeGreaterThan(500);
  });

  it.each(["@daily", " @WEEKLY ", "@hourly", "@monthly", "@yearly"])("knows %s", (cron) => {
    const read = readCron(cron) as { expression: CronExpression };
    expect(ofUs(read.expression)).toEqual(ofCroner(croner(cron)!));
  });

  it("says which part of which field can't be read, as it was written", () => {
    expect(readCron("0  8 * 1,13 *")).toEqual({
      problem: { kind: "out_of_range", count: 5, field: "month", text: "13", value: "13", start: 9 },
    });
    expect(readCron("0 0 8 * * MON,FRI#6")).toMatchObject({
      problem: { kind: "nth", count: 6, field: "weekday", text: "FRI#6", value: "6", start: 14 },
    });
  });
});

describe("readCron", () => {
  it.each(["constructor", "__proto__", "toString", " hasOwnProperty "])("refuses the name %s", (cron) => {
    expect(readCron(cron)).toMatchObject({ problem: { kind: "field_count", count: 1 } });
  });
});

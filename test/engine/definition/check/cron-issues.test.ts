import { describe, expect, it } from "vitest";
import { readCron } from "../../../../schemas/cron.ts";
import type { Issue } from "../../../../schemas/problem.ts";
import { nextTimes } from "../../../../src/engine/definition/schedule-times.ts";
import { cronPatterns } from "../../../support/cron-patterns.ts";
import { caseCount, seededRandom, testSeed } from "../../../support/random.ts";
import { checkerOf } from "./test-checker.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const steps = [{ id: "a", type: "set", values: { a: 1 } }];

const checker = checkerOf({ clock: { now: () => NOW } });

const check = (cron: string, timezone = "Europe/Berlin") =>
  checker.check({ steps, schedule: { cron, timezone } }, { checkConnections: false });

async function errorOf(cron: string): Promise<Issue> {
  const { errors, warnings, next_runs: times } = await check(cron);
  expect({ warnings, times }).toEqual({ warnings: [], times: undefined });
  expect(errors).toHaveLength(1);
  return errors[0]!;
}

const patched = ({ patch = [] }: Issue): unknown =>
  patch.map((change) => ("value" in change ? change.value : undefined))[0];

describe("a cron expression that is not valid", () => {
  it.each([
    ["0 8 * 13 *", "the month (field 4 of 5) must be 1 to 12 or JAN to DEC, got 13", "January is 1."],
    ["0 8 * 0 *", "the month (field 4 of 5) must be 1 to 12 or JAN to DEC, got 0", "January is 1."],
    [
      "0 8 32 * *",
      "the day of the month (field 3 of 5) must be 1 to 31, L or LW, got 32",
      "last day of a month is L.",
    ],
    ["0 8 0 * *", "the day of the month (field 3 of 5) must be 1 to 31, L or LW, got 0", "Write 1 to 31"],
    [
      "0 8 32W * *",
      'the day of the month (field 3 of 5) must be 1 to 31, L or LW, got 32 in "32W"',
      "Write 1 to 31",
    ],
    ["0 8 * * 8", "the weekday (field 5 of 5) must be 0 to 7 or SUN to SAT, got 8", "Sunday is 0 or 7."],
    ["0 24 * * *", "the hour (field 2 of 5) must be 0 to 23, got 24", "Midnight is 0."],
    ["60 8 * * *", "the minute (field 1 of 5) must be 0 to 59, got 60", "The full hour is 0."],
    ["60 0 8 * * *", "the second (field 1 of 6) must be 0 to 59, got 60", "The full minute is 0."],
    ["0 9-24 * * *", 'the hour (field 2 of 5) must be 0 to 23, got 24 in "9-24"', "Midnight is 0."],
    [
      "0 8 * * MON#6",
      'the weekday (field 5 of 5) must have 1 to 5 or L after #, got "6" in "MON#6"',
      "MON#2",
    ],
    ["0 8 * * L", "the weekday (field 5 of 5) has L without a weekday before it", "FRIL"],
    [
      "0 8 LW,15 * *",
      "the day of the month (field 3 of 5) has LW in a list; it can only stand alone",
      "Write LW alone",
    ],
    [
      "0 8 L-3 * *",
      "the day of the month (field 3 of 5) can't count back from the last day, got L-3",
      "Write L for",
    ],
    [
      "*/90 * * * *",
      'the minute (field 1 of 5) must have a step from 1 to 60, got 90 in "*/90"',
      "again with each hour",
    ],
    ["0 8 * *", "it must have five fields, or six with seconds first, and has 4", "0 8 * * MON"],
    ["@reboot", "@reboot is no time", "@daily"],
    ["constructor", "it must have five fields, or six with seconds first, and has 1", "0 8 * * MON"],
    ["__proto__", "it must have five fields, or six with seconds first, and has 1", "0 8 * * MON"],
    ["0 08:30 * * *", 'the hour (field 2 of 5) must be 0 to 23, got "08:30"', "Write 0 to 23"],
  ])("%s: says what was written, and what can be", async (cron, message, fix) => {
    const error = await errorOf(cron);
    expect(error).toMatchObject({
      path: "schedule.cron",
      code: "wrong_format",
      message: `is not a valid cron expression: ${message}`,
      fix: expect.stringContaining(fix),
    });
    expect(error).not.toHaveProperty("patch");
  });

  it.each([
    ["0 8 * * FRI-MON", "0 8 * * FRI-SUN,MON"],
    ["0 8 * * FRI-MON#2", "0 8 * * FRI-SUN#2,MON#2"],
    ["0 8 * * 5-0", "0 8 * * 5-7"],
    ["0 8 * NOV-FEB *", "0 8 * NOV-DEC,JAN-FEB *"],
    ["0 22-2 * * *", "0 22-23,0-2 * * *"],
    ["0 22-2/2 * * *", "0 22,0,2 * * *"],
    ["0 8 1,25-5 * *", "0 8 1,25-31,1-5 * *"],
    ["0 8 5/2 * *", "0 8 5-31/2 * *"],
    ["/10 * * * *", "*/10 * * * *"],
    ["0 8 * * MON/2", "0 8 * * MON-6/2"],
    ["0 8 * * Monday-Friday", "0 8 * * Mon-Fri"],
    ["0 8 * JANUARY *", "0 8 * JAN *"],
    ["0 8 +13 * FRI", "0 8 13 * +FRI"],
    ["0 8 1, * *", "0 8 1 * *"],
    ["0 0 8 ? * MON *", "0 0 8 ? * MON"],
    ["@dayly", "@daily"],
  ])("%s: has the patch %s", async (cron, fixed) => {
    const error = await errorOf(cron);
    expect(error.fix).toBe(`Write ${fixed}.`);
    expect(patched(error)).toBe(fixed);
    expect(await check(fixed)).toMatchObject({ errors: [], next_runs: expect.any(Array) });
  });

  it("offers the name that is meant in a field", async () => {
    expect(await errorOf("0 8 * * MOO")).toMatchObject({ did_you_mean: "MON", fix: "Write 0 8 * * MON." });
  });

  it("has no patch for a year of Quartz, whose numbers of weekdays differ", async () => {
    const error = await errorOf("0 0 8 ? * 2 *");
    expect(error.fix).toBe("Leave out the last field, the year. Weekdays count from 0, which is Sunday.");
    expect(error).not.toHaveProperty("patch");
  });

  it.each([
    ["0 8 30,31 FEB *", "day 30,31 never comes in FEB", "For the last day of the month write 0 8 L FEB *;"],
    ["0 8 31 2,4 *", "day 31 never comes in FEB or APR", "For the last day of the month write 0 8 L 2,4 *;"],
    [
      "0 8 8-14 * +MON#1",
      'no day of the month in "8-14" is ever a weekday of "+MON#1"',
      "or write 0 8 8-14 * MON#1 for",
    ],
  ])("%s: says why it never comes", async (cron, reason, fix) => {
    expect(await errorOf(cron)).toMatchObject({
      code: "not_allowed",
      message: `must match at least one date, but ${reason}`,
      fix: expect.stringContaining(fix),
    });
  });

  it("gets only patches that make it one that has times", async () => {
    const next = cronPatterns(seededRandom(testSeed("fixes of cron expressions")));
    const wrong: unknown[] = [];
    let patches = 0;
    for (let left = caseCount(1_000, 15_000); left > 0; left -= 1) {
      const cron = next();
      if ("expression" in readCron(cron)) continue;
      const [error] = (await check(cron)).errors;
      const value = error && patched(error);
      if (error?.fix === undefined) wrong.push({ cron, error });
      if (typeof value !== "string") continue;
      patches += 1;
      if (!isUsable(value)) wrong.push({ cron, value });
    }
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(patches).toBeGreaterThan(20);
  });
});

const isUsable = (cron: string): boolean =>
  "expression" in readCron(cron) && nextTimes({ cron, timezone: "UTC" }, NOW, 1).length === 1;

describe("a day of the month beside a weekday", () => {
  it("gets a warning that either is enough, with the form for both", async () => {
    const report = await check("0 8 13 * FRI");
    expect(report).toMatchObject({ valid: true, errors: [] });
    expect(report.warnings).toEqual([
      {
        path: "schedule.cron",
        code: "day_or_weekday",
        message:
          "runs on days that match either the day of the month (13) or the weekday (FRI), not only on days that match both",
        fix: "For days that match both, write 0 8 13 * +FRI. Keep it if either is meant.",
      },
    ]);
    const both = await check("0 8 13 * +FRI");
    expect(both).toMatchObject({ errors: [], warnings: [] });
    expect(both.next_runs?.slice(0, 2)).toEqual(["2026-02-13T08:00:00+01:00", "2026-03-13T08:00:00+01:00"]);
  });

  it.each([
    ["0 8 */2 * MON", "For days that match both, write 0 8 */2 * +MON."],
    ["0 0 8 L * FRI", "For days that match both, write 0 0 8 L * +FRI."],
    ["0 8 1-31 * MON", "Write 0 8 * * MON if every day is not meant."],
    ["0 8 13 * 0-6", "Write 0 8 13 * * if every day is not meant."],
    ["0 8 31 2 MON", "Replace one of the two by * if only the other is meant."],
  ])("%s: has a fix that has times", async (cron, fix) => {
    const { errors, warnings } = await check(cron);
    expect(errors).toEqual([]);
    expect(warnings).toMatchObject([{ code: "day_or_weekday", fix: expect.stringContaining(fix) }]);
  });

  it.each(["0 8 13 * *", "0 8 * * FRI", "0 8 13 * ?", "0 8 ? * FRI", "0 8 * * +FRI", "@weekly"])(
    "%s has no such warning",
    async (cron) => expect(await check(cron)).toMatchObject({ errors: [], warnings: [] }),
  );
});

describe("the next times in a report", () => {
  it("are those of the schedule, as its zone shows them with the offset", async () => {
    const { next_runs: times } = await check("0 8 * * FRI#L", "America/New_York");
    expect(times).toEqual([
      "2026-01-30T08:00:00-05:00",
      "2026-02-27T08:00:00-05:00",
      "2026-03-27T08:00:00-04:00",
      "2026-04-24T08:00:00-04:00",
      "2026-05-29T08:00:00-04:00",
    ]);
    const next = cronPatterns(seededRandom(testSeed("next times")));
    const compared: { cron: string; reported: number[]; expected: number[] }[] = [];
    while (compared.length < caseCount(20, 400)) {
      const cron = next();
      const report = await check(cron, "Australia/Lord_Howe");
      if (report.next_runs === undefined) continue;
      const reported = report.next_runs.map((time) => Date.parse(time));
      compared.push({
        cron,
        reported,
        expected: nextTimes({ cron, timezone: "Australia/Lord_Howe" }, NOW, 5),
      });
    }
    expect(compared.filter(({ reported, expected }) => reported.join() !== expected.join())).toEqual([]);
  });

  it("are left out without a schedule, and for one with an unknown zone", async () => {
    expect(await check("0 8 * * *", "Europe/Berln")).not.toHaveProperty("next_runs");
    const plain = await checker.check({ steps }, { checkConnections: false });
    expect(plain).not.toHaveProperty("next_runs");
  });
});

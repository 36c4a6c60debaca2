import { describe, expect, it } from "vitest";
import { readCron } from "../../../schemas/cron.ts";
import { describeCron } from "../../../src/web/workflows/cron-words.ts";
import { formatZonedTime } from "../../../src/web/workflows/zoned-time.ts";
import { cronPatterns } from "../../support/cron-patterns.ts";
import { caseCount, seededRandom, testSeed } from "../../support/random.ts";

describe("describeCron", () => {
  it.each([
    ["0 8 * * *", "At 08:00"],
    ["0 8 13 * FRI", "At 08:00, on day 13 of the month, or on Friday"],
    ["0 8 13 * +FRI", "At 08:00, on day 13 of the month, only if that is Friday"],
    ["0 8 1,15 * mon,fri", "At 08:00, on day 1 or day 15 of the month, or on Monday or Friday"],
    ["0 8 1-7 * +MON", "At 08:00, on day 1 to day 7 of the month, only if that is Monday"],
    ["0 8 * * FRI#L", "At 08:00, on the last Friday of the month"],
    ["0 8 * * fril", "At 08:00, on the last Friday of the month"],
    ["0 8 * * 5#3", "At 08:00, on the third Friday of the month"],
    ["0 8 * * MON-TUE#2", "At 08:00, on the second Monday and the second Tuesday of the month"],
    ["0 8 * * 5#L,1#1", "At 08:00, on the last Friday and the first Monday of the month"],
    ["0 17 LW * *", "At 17:00, on the last working day of the month"],
    ["0 17 lw * *", "At 17:00, on the last working day of the month"],
    ["0 8 15W * *", "At 08:00, on the working day nearest to day 15 of the month"],
    ["0 8 L,15 * *", "At 08:00, on the last day and day 15 of the month"],
    ["0 8 */2 * *", "At 08:00, on every 2nd day from day 1 to day 31 of the month"],
    ["0 8 ? * MON-FRI", "At 08:00, on Monday to Friday"],
    ["0 8 * * SAT-SUN", "At 08:00, on Saturday to Sunday"],
    ["0 8 * * 7", "At 08:00, on Sunday"],
    ["0 8 * jan,JUL *", "At 08:00, in January and July"],
    ["0 8 1-31 * MON", "At 08:00, on every day of the month, or on Monday"],
    ["*/5 8-17 * * MON-FRI", "Every 5 minutes, between 08:00 and 17:59, on Monday to Friday"],
    ["15 0 8 * * MON", "At 08:00:15, on Monday"],
    ["@daily", "At 00:00"],
    ["@hourly", "Every hour"],
  ])("%s: %s", (cron, words) => expect(describeCron(cron)).toBe(words));

  it("has no words for what is not valid", () => {
    for (const cron of ["0 8 * 13 *", "0 8 * * FRI#6", "daily"]) expect(describeCron(cron)).toBeUndefined();
  });

  it("describes every valid expression, never with and where either day is enough", () => {
    const next = cronPatterns(seededRandom(testSeed("describeCron")));
    const wrong: unknown[] = [];
    const counts = { any: 0, day: 0, weekday: 0, or: 0, and: 0 };
    for (let left = caseCount(20_000, 200_000); left > 0; left -= 1) {
      const cron = next();
      const read = readCron(cron);
      if ("problem" in read) continue;
      const { days, parts } = read.expression;
      counts[days] += 1;
      const words = describeCron(cron);
      const ofDays =
        describeCron(`0 8 ${cron.split(" ").slice(-3).join(" ")}`)?.replace(/, in [A-Z].*/, "") ?? "";
      const isWrong =
        words === undefined ||
        /undefined|NaN|\*/.test(words) ||
        (days === "or" && (!ofDays.includes(", or on ") || ofDays.includes(" and "))) ||
        (days === "and" && !ofDays.includes(", only if that is ")) ||
        (days !== "or" && ofDays.includes(", or on "));
      if (isWrong) wrong.push({ cron, words, parts });
    }
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(5);
  });
});

describe("formatZonedTime", () => {
  it("shows the day of the week, the local time and the offset", () => {
    expect(formatZonedTime("2026-02-13T08:00:00+01:00")).toBe("Fri, 13 Feb 2026, 08:00 (UTC+01:00)");
    expect(formatZonedTime("2026-02-13T08:00:15-09:30")).toBe("Fri, 13 Feb 2026, 08:00:15 (UTC-09:30)");
  });
});

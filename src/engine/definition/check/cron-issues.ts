/** Says what is wrong with a cron expression, in the counting and the words of its author, with a fix that was tried. */
import {
  CRON_FIELDS,
  CRON_NICKNAMES,
  CRON_VALUES,
  type CronExpression,
  type CronField,
  type CronPart,
  type CronProblem,
  isEveryDay,
  MONTH_NAMES,
  readCron,
  valuesOf,
} from "../../../../schemas/cron.ts";
import { nearMatch } from "../../../core/near-match.ts";
import { nextTime } from "../schedule-times.ts";
import type { LocatedIssue } from "./check-report.ts";

const PATH = ["schedule", "cron"];
export const CRON_FIELDS_FIX =
  "Write five fields (minute hour day month weekday), such as 0 8 * * MON, or six with seconds first.";

const FIELD_WORDS: Readonly<Record<CronField, { label: string; allowed: string; hint: string }>> = {
  second: { label: "second", allowed: "0 to 59", hint: "The full minute is 0." },
  minute: { label: "minute", allowed: "0 to 59", hint: "The full hour is 0." },
  hour: { label: "hour", allowed: "0 to 23", hint: "Midnight is 0." },
  day: { label: "day of the month", allowed: "1 to 31, L or LW", hint: "The last day of a month is L." },
  month: { label: "month", allowed: "1 to 12 or JAN to DEC", hint: "January is 1." },
  weekday: { label: "weekday", allowed: "0 to 7 or SUN to SAT", hint: "Sunday is 0 or 7." },
};

type Fix = Pick<LocatedIssue, "fix" | "patch" | "did_you_mean">;

/** The fix that replaces the expression, if it has times then; otherwise an advice. */
function rewrite(cron: string | undefined, now: number, advice: string): Fix {
  if (cron === undefined || !hasTimes(cron, now)) return { fix: advice };
  return { fix: `Write ${cron}.`, patch: [{ op: "replace", path: PATH, value: cron }] };
}

const hasTimes = (cron: string, now: number): boolean =>
  "expression" in readCron(cron) && nextTime({ cron, timezone: "UTC" }, now) !== null;

/** The issue of an expression that can't be read. @param now the present time, in milliseconds since 1970 */
export function unreadableCron(cron: string, problem: CronProblem, now: number): LocatedIssue {
  return {
    path: PATH,
    code: "wrong_format",
    message: `is not a valid cron expression: ${describeProblem(problem)}`,
    ...fixProblem(cron, problem, now),
  };
}

function describeProblem({ kind, count, field, text, value }: CronProblem): string {
  if (kind === "reboot") return "@reboot is no time";
  if (field === undefined)
    return text.startsWith("@")
      ? `"${text}" is none of the known names`
      : `it must have five fields, or six with seconds first, and has ${count}`;
  const { label, allowed } = FIELD_WORDS[field];
  const number = CRON_FIELDS.indexOf(field) + count - 5;
  const at = `the ${label} (field ${number} of ${count})`;
  const within = value === text ? "" : ` in "${text}"`;
  switch (kind) {
    case "field_count":
    case "not_a_value":
      return `${at} must be ${allowed}, got "${value}"${within}`;
    case "out_of_range":
      return `${at} must be ${allowed}, got ${value}${within}`;
    case "empty_part":
      return `${at} has a comma with nothing beside it`;
    case "reversed":
      return `${at} has the range ${value}, whose end is before its beginning`;
    case "step_start":
      return `${at} has the step ${value} without a range; only * or a range can have a step`;
    case "step_size":
      return `${at} must have a step from 1 to ${CRON_VALUES[field].maxStep}, got ${value}${within}`;
    case "nth":
      return `${at} must have 1 to 5 or L after #, got "${value}"${within}`;
    case "last_weekday_of_none":
      return `${at} has L without a weekday before it`;
    case "working_day_in_list":
      return `${at} has ${value} in a list; it can only stand alone`;
    case "days_before_last":
      return `${at} can't count back from the last day, got ${value}`;
    case "full_name":
      return `${at} must have names of three letters, got ${value}${within}`;
    case "misplaced_plus":
      return `${at} has a + that is not before a weekday`;
  }
}

function fixProblem(cron: string, problem: CronProblem, now: number): Fix {
  const { kind, field, text, value, start } = problem;
  if (kind === "reboot") return { fix: "Write times, such as @daily, or start it by a webhook (triggers)." };
  if (field === undefined) return fixFields(cron, now);
  const { allowed, hint } = FIELD_WORDS[field];
  /** The expression with another text in place of the part. */
  const replaced = (part: string | undefined): string | undefined =>
    part === undefined ? undefined : cron.slice(0, start) + part + cron.slice(start + text.length);
  const inPart = (written: string | undefined): string | undefined =>
    written === undefined ? undefined : replaced(text.replace(value, written));
  switch (kind) {
    case "field_count":
    case "out_of_range":
      return { fix: `Write ${allowed}. ${hint}` };
    case "not_a_value": {
      const near = nearMatch(value, CRON_VALUES[field].names);
      return near === undefined || !hasTimes(inPart(near)!, now)
        ? { fix: `Write ${allowed}, a range such as ${RANGE_EXAMPLES[field]}, a list with commas, or *.` }
        : { did_you_mean: near, fix: `Write ${inPart(near)}.` };
    }
    case "empty_part":
      return rewrite(withoutEmptyParts(cron), now, `Leave the comma out, or write ${allowed} beside it.`);
    case "reversed":
      return rewrite(replaced(wrappedRange(problem)), now, "Write the smaller value first.");
    case "step_start":
      return rewrite(inPart(rangeOfStep(field, value)), now, "Write a range before the step, or *.");
    case "step_size":
      return {
        fix: `Write a step from 1 to ${CRON_VALUES[field].maxStep}. Steps begin again with each ${LARGER_UNIT[field]}.`,
      };
    case "nth":
      return { fix: "Write 1 to 5 after #, such as MON#2 for the second Monday, or L for the last one." };
    case "last_weekday_of_none":
      return {
        fix: "Write the weekday before L, such as FRIL for the last Friday; SAT for every Saturday.",
      };
    case "working_day_in_list":
      return { fix: "Write LW alone, or make a workflow for the other days." };
    case "days_before_last":
      return { fix: "Write L for the last day, LW for the last working day, or a number." };
    case "full_name":
      return rewrite(
        replaced(text.replaceAll(/[a-z]{4,}/gi, (name) => name.slice(0, 3))),
        now,
        `Write ${allowed}.`,
      );
    case "misplaced_plus":
      return rewrite(withPlus(cron), now, "Write + before the weekday only, such as 0 8 13 * +FRI.");
  }
}

const RANGE_EXAMPLES: Readonly<Record<CronField, string>> = {
  second: "0-30",
  minute: "0-30",
  hour: "8-17",
  day: "1-7",
  month: "JAN-MAR",
  weekday: "MON-FRI",
};

const LARGER_UNIT: Readonly<Record<CronField, string>> = {
  second: "minute",
  minute: "hour",
  hour: "day",
  day: "month",
  month: "year",
  weekday: "week",
};

function fixFields(cron: string, now: number): Fix {
  const text = cron.trim();
  const near = text.startsWith("@") ? nearMatch(text, CRON_NICKNAMES) : undefined;
  if (near !== undefined) return { did_you_mean: near, fix: `Write ${near}.` };
  if (text.startsWith("@"))
    return { fix: `Write one of ${CRON_NICKNAMES.join(", ")}, or five fields such as 0 8 * * MON.` };
  const fields = text.split(/\s+/);
  if (fields.length !== 7) return { fix: CRON_FIELDS_FIX };
  // Quartz counts weekdays from 1, so only names mean the same.
  const isSame = /^[*?]$/.test(fields[6]!) && !/\d/.test(fields[5]!);
  return rewrite(
    isSame ? fields.slice(0, 6).join(" ") : undefined,
    now,
    "Leave out the last field, the year. Weekdays count from 0, which is Sunday.",
  );
}

const withoutEmptyParts = (cron: string): string =>
  cron.replaceAll(/\S+/g, (field) =>
    field
      .split(",")
      .filter((part) => part !== "")
      .join(","),
  );

/** A range across the end of its field, such as FRI-MON, as two. */
function wrappedRange({ field, text, value, range }: CronProblem): string | undefined {
  if (field === undefined || range === undefined) return undefined;
  const { min, max } = CRON_VALUES[field];
  const { from, to, step } = range;
  if (from > max || to < min) return undefined;
  const [written = "", suffix = ""] = text.split(value);
  if (step > 1) {
    const size = max - min + (field === "weekday" ? 0 : 1);
    const values = valuesOf({ kind: "range", from, to: to + size, step }, field);
    return values.map((at) => `${at > max ? at - size : at}${suffix}`).join(",");
  }
  const [first = "", last = ""] = value.split("-");
  const isNamed = /\D/.test(first);
  const [lowest, highest] =
    field === "weekday"
      ? isNamed
        ? ["MON", "SUN"]
        : ["1", "7"]
      : isNamed
        ? ["JAN", "DEC"]
        : [`${min}`, `${max}`];
  const lowestNumber = field === "weekday" ? 1 : min;
  const ranges = [
    from === max ? first : `${first}-${highest}`,
    ...(to < lowestNumber ? [] : [to === lowestNumber ? last : `${lowest}-${last}`]),
  ];
  return ranges.map((part) => `${written}${part}${suffix}`).join(",");
}

/** The range that other programs mean by a step after a single value, such as 5/2, or after nothing. */
function rangeOfStep(field: CronField, text: string): string {
  const [first = "", step = ""] = text.split("/");
  const last = field === "weekday" ? "6" : String(CRON_VALUES[field].max);
  return first === "" ? `*/${step}` : `${first}-${last}/${step}`;
}

/** The expression with a + before the weekday, and nowhere else. */
function withPlus(cron: string): string {
  return cron.trim().replaceAll("+", "").replace(/\S+$/, "+$&");
}

/** The expression with another text in a field. @param fromEnd 1 for the weekday, 3 for the day of the month */
function withField(cron: string, fromEnd: number, text: string): string {
  const fields = cron.trim().split(/\s+/);
  return fields.toSpliced(fields.length - fromEnd, 1, text).join(" ");
}

/** The issue of an expression that matches no date. */
export function cronWithoutTimes(cron: string, expression: CronExpression, now: number): LocatedIssue {
  const { written, parts, days } = expression;
  const longest = Math.max(...monthsOf(parts.month).map((month) => new Date(2024, month, 0).getDate()));
  const isMissingDay = parts.day.every((part) => firstDay(part) > longest);
  const reason = isMissingDay
    ? `day ${written.day} never comes in ${monthsOf(parts.month).map(monthName).join(" or ")}`
    : `no day of the month in "${written.day}" is ever a weekday of "${written.weekday}"`;
  const [last, either] = [withField(cron, 3, "L"), cron.replace("+", "")];
  const advice =
    isMissingDay && hasTimes(last, now)
      ? `For the last day of the month write ${last}; otherwise change the day or the month.`
      : days === "and" && hasTimes(either, now)
        ? `Change one of the two, or write ${either} for days that match either.`
        : "Change the day or the month.";
  return {
    path: PATH,
    code: "not_allowed",
    message: `must match at least one date, but ${reason}`,
    fix: advice,
  };
}

const monthsOf = (parts: readonly CronPart[]): number[] =>
  parts.flatMap((part) => (part.kind === "range" ? valuesOf(part, "month") : []));

const monthName = (month: number): string => MONTH_NAMES[month - 1]!;

/** The first day of a month that a part may match. */
function firstDay(part: CronPart): number {
  switch (part.kind) {
    case "range":
      return part.from;
    case "nearest_working_day":
      return part.day;
    case "last_day":
    case "last_working_day":
      return 1;
  }
}

/** Warns of a day of the month beside a weekday: either of them is enough, which many readers don't expect. */
export function dayOrWeekdayIssues(cron: string, expression: CronExpression, now: number): LocatedIssue[] {
  const { written, parts, days } = expression;
  if (days !== "or") return [];
  const [both, weekdayOnly, dayOnly] = [withPlus(cron), withField(cron, 3, "*"), withField(cron, 1, "*")];
  const everyDay = isEveryDay(parts.day, "day");
  const unused = everyDay ? "weekday" : isEveryDay(parts.weekday, "weekday") ? "day" : undefined;
  const restricts = `the day of the month (${written.day}) or the weekday (${written.weekday})`;
  return [
    {
      path: PATH,
      code: "day_or_weekday",
      severity: "warning",
      message:
        unused === undefined
          ? `runs on days that match either ${restricts}, not only on days that match both`
          : `runs every day, because days that match either ${restricts} are enough, and every day does`,
      fix:
        unused === undefined
          ? hasTimes(both, now)
            ? `For days that match both, write ${both}. Keep it if either is meant.`
            : "Replace one of the two by * if only the other is meant. Keep it if either is meant."
          : `Write ${unused === "day" ? dayOnly : weekdayOnly} if every day is not meant.`,
    },
  ];
}

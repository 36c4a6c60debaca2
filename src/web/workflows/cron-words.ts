/**
 * Describes cron expressions in words. A library describes the time of day; which days match is described here, because it
 * writes "and" where either the day of the month or the weekday is enough, and does not know all forms.
 */
import cronstrue from "cronstrue";
import {
  CRON_VALUES,
  type CronExpression,
  type CronField,
  type CronPart,
  type CronRange,
  isEveryDay,
  readCron,
  valuesOf,
} from "../../../schemas/cron.ts";

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const ORDINALS = ["first", "second", "third", "fourth", "fifth"];

/** Describes an expression; undefined for one that is not valid. */
export function describeCron(cron: string): string | undefined {
  const read = readCron(cron);
  if ("problem" in read) return undefined;
  const { expression } = read;
  return [describeTime(expression), describeDays(expression), describeMonths(expression.parts.month)]
    .filter((text) => text !== "")
    .join(", ");
}

function describeTime({ parts }: CronExpression): string {
  const [second, minute, hour] = (["second", "minute", "hour"] as const).map((field) => {
    const ranges = parts[field].filter((part) => part.kind === "range");
    const { min, max } = CRON_VALUES[field];
    const values = new Set(ranges.flatMap((range) => valuesOf(range, field)));
    return values.size > max - min ? "*" : ranges.map((range) => rangeText(range, field)).join(",");
  });
  return cronstrue.toString(`${second} ${minute} ${hour} * * *`, { use24HourTimeFormat: true });
}

/** A range in the form that the library knows. */
function rangeText(range: CronRange, field: CronField): string {
  const { from, to, step } = range;
  const { min, max } = CRON_VALUES[field];
  if (valuesOf(range, field).length === 1) return `${from}`;
  const values = from === min && to === max ? "*" : `${from}-${to}`;
  return step === 1 ? values : `${values}/${step}`;
}

function describeDays({ parts: { day, weekday }, days }: CronExpression): string {
  switch (days) {
    case "any":
      return "";
    case "day":
      return `on ${describeMonthDays(day, "and")}`;
    case "weekday":
      return `on ${describeWeekdays(weekday, "and")}`;
    case "or":
      return `on ${describeMonthDays(day, "or")}, or on ${describeWeekdays(weekday, "or")}`;
    case "and":
      return `on ${describeMonthDays(day, "or")}, only if that is ${describeWeekdays(weekday, "or")}`;
  }
}

/** Maximum number of days that are listed; more of them are described by their step. */
const MAX_LISTED_DAYS = 4;

const ordinal = (step: number): string =>
  `${step}${step > 3 && step < 21 ? "th" : (["th", "st", "nd", "rd"][step % 10] ?? "th")}`;

type Conjunction = "and" | "or";

function list(words: readonly string[], conjunction: Conjunction): string {
  const unique = [...new Set(words)];
  return unique.length < 2
    ? unique.join("")
    : `${unique.slice(0, -1).join(", ")} ${conjunction} ${unique.at(-1)}`;
}

function describeMonthDays(parts: readonly CronPart[], conjunction: Conjunction): string {
  if (isEveryDay(parts, "day")) return "every day of the month";
  const words = parts.map((part) => {
    switch (part.kind) {
      case "last_day":
        return "the last day";
      case "last_working_day":
        return "the last working day";
      case "nearest_working_day":
        return `the working day nearest to day ${part.day}`;
      case "range":
        if (part.step > 1 && valuesOf(part, "day").length > MAX_LISTED_DAYS)
          return `every ${ordinal(part.step)} day from day ${part.from} to day ${part.to}`;
        return rangeWords(part, "day", (value) => `day ${value}`, conjunction);
    }
  });
  return `${list(words, conjunction)} of the month`;
}

const weekdayName = (value: number): string => WEEKDAYS[value % 7]!;

function describeWeekdays(parts: readonly CronPart[], conjunction: Conjunction): string {
  if (isEveryDay(parts, "weekday")) return "every day of the week";
  const ranges = parts.filter((part) => part.kind === "range");
  const words = ranges.map((part) => {
    if (part.nth === undefined) return rangeWords(part, "weekday", weekdayName, conjunction);
    const which = part.nth === "last" ? "last" : ORDINALS[part.nth - 1]!;
    return list(
      valuesOf(part, "weekday").map((value) => `the ${which} ${weekdayName(value)}`),
      conjunction,
    );
  });
  return `${list(words, conjunction)}${ranges.some(({ nth }) => nth !== undefined) ? " of the month" : ""}`;
}

function describeMonths(parts: readonly CronPart[]): string {
  const ranges = parts.filter((part) => part.kind === "range");
  const months = new Set(ranges.flatMap((part) => valuesOf(part, "month")));
  if (months.size === MONTHS.length) return "";
  const words = ranges.map((part) => rangeWords(part, "month", (value) => MONTHS[value - 1]!, "and"));
  return `in ${list(words, "and")}`;
}

/** A range in words; its values where it has a step. */
function rangeWords(
  range: CronRange,
  field: CronField,
  word: (value: number) => string,
  conjunction: Conjunction,
): string {
  const { from, to, step } = range;
  const values = valuesOf(range, field);
  if (step > 1 || values.length === 1) return list(values.map(word), conjunction);
  return `${word(from)} to ${word(to)}`;
}

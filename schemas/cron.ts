/**
 * Reads cron expressions: the server checks schedules with it, and the interface describes them. It accepts exactly what
 * the library that computes the times accepts.
 */

export const CRON_FIELDS = ["second", "minute", "hour", "day", "month", "weekday"] as const;
export type CronField = (typeof CRON_FIELDS)[number];

export const MONTH_NAMES = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");
const WEEKDAY_NAMES = "SUN MON TUE WED THU FRI SAT".split(" ");

interface FieldValues {
  min: number;
  max: number;
  /** The largest step. */
  maxStep: number;
  /** Names of the values from `min` on. */
  names: readonly string[];
}

export const CRON_VALUES: Readonly<Record<CronField, FieldValues>> = {
  second: { min: 0, max: 59, maxStep: 60, names: [] },
  minute: { min: 0, max: 59, maxStep: 60, names: [] },
  hour: { min: 0, max: 23, maxStep: 24, names: [] },
  day: { min: 1, max: 31, maxStep: 31, names: [] },
  month: { min: 1, max: 12, maxStep: 12, names: MONTH_NAMES },
  // 0 and 7 are Sunday.
  weekday: { min: 0, max: 7, maxStep: 7, names: WEEKDAY_NAMES },
};

/** The values of a part of a field, such as `MON-FRI` or `5`. */
export interface CronRange {
  kind: "range";
  from: number;
  to: number;
  step: number;
  /** Which of the weekdays of a month; left out for all of them. */
  nth?: number | "last";
}

export type CronPart =
  | CronRange
  | { kind: "last_day" }
  | { kind: "last_working_day" }
  | { kind: "nearest_working_day"; day: number };

export interface CronExpression {
  /** The fields as they were written, seconds first; `0` where they are left out. */
  written: Readonly<Record<CronField, string>>;
  parts: Readonly<Record<CronField, readonly CronPart[]>>;
  /**
   * How the day of the month and the weekday select days: `any` is every day, `day` and `weekday` only one of them, `or` days that
   * match either, `and` (`+` before the weekday) days that match both.
   */
  days: "any" | "day" | "weekday" | "or" | "and";
}

type CronProblemKind =
  | "field_count"
  | "reboot"
  | "empty_part"
  | "not_a_value"
  | "out_of_range"
  | "reversed"
  | "step_start"
  | "step_size"
  | "nth"
  | "last_weekday_of_none"
  | "working_day_in_list"
  | "days_before_last"
  | "full_name"
  | "misplaced_plus";

/** Why an expression can't be read. */
export interface CronProblem {
  kind: CronProblemKind;
  /** Number of fields of the expression. */
  count: number;
  /** Left out where it is about the whole expression. */
  field?: CronField;
  /** The part that can't be read, as it was written. */
  text: string;
  /** Where that part begins in the expression, in characters from 0. */
  start: number;
  /** The value in it that does not fit, as it was written. */
  value: string;
  /** Of a range: its values, as they were written. */
  range?: { from: number; to: number; step: number };
}

class Unreadable extends Error {
  readonly kind: CronProblemKind;
  readonly value: string;
  readonly range: CronProblem["range"];

  constructor(kind: CronProblemKind, value: string, range?: CronProblem["range"]) {
    super(kind);
    this.kind = kind;
    this.value = value;
    this.range = range;
  }
}

const NICKNAMES: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * SUN"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);
export const CRON_NICKNAMES = [...NICKNAMES.keys()];

/** Reads an expression of five fields, of six with seconds first, or a nickname such as `@daily`. */
export function readCron(cron: string): { expression: CronExpression } | { problem: CronProblem } {
  const nickname = cron.trim().toLowerCase();
  const whole = { text: cron.trim(), start: 0, value: cron.trim(), count: 0 };
  if (nickname === "@reboot") return { problem: { ...whole, kind: "reboot" } };
  const found = [...(NICKNAMES.get(nickname) ?? cron).matchAll(/\S+/g)];
  const count = found.length;
  if (count !== 5 && count !== 6) return { problem: { ...whole, kind: "field_count", count } };
  const written = { second: "0" } as Record<CronField, string>;
  const parts = { second: readPart("second", "0") } as Record<CronField, CronPart[]>;
  for (const [index, { 0: text, index: start }] of found.entries()) {
    const field = CRON_FIELDS[index + 6 - count]!;
    written[field] = text.replaceAll("?", "*");
    const read = readField(field, written[field]);
    if ("parts" in read) parts[field] = read.parts;
    else
      return {
        problem: { ...read.problem, value: read.problem.value, count, field, start: start + read.at },
      };
  }
  return { expression: { written, parts, days: selectDays(written, parts) } };
}

type ReadField =
  { parts: CronPart[] } | { problem: Pick<CronProblem, "kind" | "text" | "value" | "range">; at: number };

function readField(field: CronField, text: string): ReadField {
  const hasPlus = field === "weekday" && text.startsWith("+");
  const list = hasPlus ? text.slice(1) : text;
  if (hasPlus && list === "") return { problem: { kind: "misplaced_plus", text, value: text }, at: 0 };
  const parts: CronPart[] = [];
  let at = hasPlus ? 1 : 0;
  const elements = list.split(",");
  for (const element of elements) {
    try {
      if (elements.length > 1 && field === "day" && element.toUpperCase() === "LW")
        throw new Unreadable("working_day_in_list", element);
      parts.push(...readPart(field, element));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      const { kind, value, range } = error;
      return { problem: { kind, text: element, value, ...(range && { range }) }, at };
    }
    at += element.length + 1;
  }
  return { parts };
}

/** @throws Unreadable */
function readPart(field: CronField, text: string): CronPart[] {
  if (text === "") throw new Unreadable("empty_part", text);
  if (text.includes("+")) throw new Unreadable("misplaced_plus", text);
  if (field === "day") {
    const upper = text.toUpperCase();
    if (upper === "L") return [{ kind: "last_day" }];
    if (upper === "LW") return [{ kind: "last_working_day" }];
    if (upper.startsWith("L-")) throw new Unreadable("days_before_last", text);
    const nearest = /^(\d+)W$/i.exec(text)?.[1];
    if (nearest !== undefined) return [{ kind: "nearest_working_day", day: readValue(field, nearest) }];
  }
  if (field !== "weekday") return [readRange(field, text)];
  const [days, nth] = splitNth(text);
  if (days === "*" && nth !== undefined) throw new Unreadable("not_a_value", text);
  return [{ ...readRange(field, days), ...(nth !== undefined && { nth }) }];
}

/** Splits `FRI#2`, `FRI#L` and `FRIL`. */
function splitNth(text: string): [days: string, nth?: number | "last"] {
  const [days = "", nth, ...rest] = text.split("#");
  if (rest.length > 0) throw new Unreadable("not_a_value", text);
  if (nth === undefined) {
    if (!/L$/i.test(text)) return [text];
    if (text.length === 1) throw new Unreadable("last_weekday_of_none", text);
    return [text.slice(0, -1), "last"];
  }
  if (nth.toUpperCase() === "L") return [days, "last"];
  if (!/^0*[1-5]$/.test(nth)) throw new Unreadable("nth", nth);
  return [days, Number(nth)];
}

function readRange(field: CronField, text: string): CronRange {
  const { min, max, maxStep } = CRON_VALUES[field];
  const [range = "", step, ...rest] = text.split("/");
  if (rest.length > 0) throw new Unreadable("not_a_value", text);
  const [first = "", last, ...more] = range.split("-");
  if (more.length > 0) throw new Unreadable("not_a_value", text);
  const everyStep = step === undefined ? 1 : /^\d+$/.test(step) ? Number(step) : Number.NaN;
  if (Number.isNaN(everyStep)) throw new Unreadable("not_a_value", step!);
  if (range === "*") {
    checkStep();
    // Sunday is 0 and 7, and counts once.
    return { kind: "range", from: min, to: field === "weekday" ? 6 : max, step: everyStep };
  }
  if (step !== undefined && last === undefined) throw new Unreadable("step_start", text);
  const from = numberOf(field, first);
  const to = last === undefined ? from : numberOf(field, last, true);
  if (from > to) throw new Unreadable("reversed", text, { from, to, step: everyStep });
  checkStep();
  // With a step only the values that it reaches must fit.
  const lastReached = from + Math.floor((to - from) / everyStep) * everyStep;
  if (from < min) throw new Unreadable("out_of_range", first);
  if (lastReached > max) throw new Unreadable("out_of_range", last ?? first);
  return { kind: "range", from, to: Math.min(to, max), step: everyStep };

  function checkStep(): void {
    if (everyStep < 1 || everyStep > maxStep) throw new Unreadable("step_size", step!);
  }
}

function readValue(field: CronField, text: string): number {
  const { min, max } = CRON_VALUES[field];
  const value = numberOf(field, text);
  if (value < min || value > max) throw new Unreadable("out_of_range", text);
  return value;
}

/** The number of a digit or name. As the end of a range, SUN is 7. */
function numberOf(field: CronField, text: string, isEnd = false): number {
  if (/^\d+$/.test(text)) return Number(text);
  const { names, min } = CRON_VALUES[field];
  const upper = text.toUpperCase();
  const index = names.indexOf(upper);
  if (index === 0 && field === "weekday" && isEnd) return 7;
  if (index !== -1) return min + index;
  const isFullName = /^[A-Z]{4,}$/.test(upper) && names.some((name) => upper.startsWith(name));
  throw new Unreadable(isFullName ? "full_name" : "not_a_value", text);
}

function selectDays(
  { day, weekday }: CronExpression["written"],
  { day: dayParts }: CronExpression["parts"],
): CronExpression["days"] {
  const hasPlus = weekday.startsWith("+");
  const anyWeekday = (hasPlus ? weekday.slice(1) : weekday) === "*";
  // A list such as `L,*` matches every day.
  const anyDay = day === "*" || (dayParts.length > 1 && day.replaceAll(/\bL,|,L\b/gi, "") === "*");
  if (anyDay && anyWeekday) return "any";
  if (anyWeekday) return "day";
  if (anyDay) return "weekday";
  return hasPlus ? "and" : "or";
}

/** The values of a range, in order; Sunday is 0. */
export function valuesOf({ from, to, step }: CronRange, field: CronField): number[] {
  const values = Array.from(
    { length: Math.floor((to - from) / step) + 1 },
    (_, index) => from + index * step,
  );
  return field === "weekday" ? [...new Set(values.map((value) => value % 7))] : values;
}

/** Whether a field of days, not restricted to one of them in the month, has all of its values. */
export const isEveryDay = (parts: readonly CronPart[], field: "day" | "weekday"): boolean =>
  new Set(
    parts.flatMap((part) => (part.kind === "range" && part.nth === undefined ? valuesOf(part, field) : [])),
  ).size === (field === "day" ? 31 : 7);

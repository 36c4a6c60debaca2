/** Converts values that models write to what a field takes. */
import { DURATION_PATTERN } from "../../../../schemas/field-values.ts";
import { isAscii } from "../../../../schemas/fold-text.ts";
import { readJson } from "../../../core/json-text.ts";
import { isLongNumber } from "../../../../schemas/long-numbers.ts";
import { nearMatch } from "../../../core/near-match.ts";
import { slugOf } from "../../../core/slug.ts";
import { fieldOfAlias, normalizeName } from "../../../core/field-aliases.ts";
import { RETRY_ALIASES, VALUE_ALIASES } from "./aliases.ts";
import { type Fields, intendFields } from "./intended-fields.ts";

/** Number of seconds from which a bare number probably means milliseconds. */
const MAX_SECONDS = 1_000;

const UNITS: Readonly<Record<string, string>> = {
  ms: "ms",
  millisecond: "ms",
  milli: "ms",
  s: "s",
  sec: "s",
  second: "s",
  m: "m",
  min: "m",
  minute: "m",
  h: "h",
  hr: "h",
  hour: "h",
  d: "d",
  day: "d",
};

/** Reads a duration such as `30 seconds`, `1 hour 30 min`, `PT30S` or, with a known unit, `30`. */
function durationOf(value: unknown, unit?: string): string | undefined {
  if (typeof value === "number") {
    const isWhole = Number.isInteger(value) && value > 0;
    if (!isWhole || (unit === undefined && value >= MAX_SECONDS)) return undefined;
    return `${value}${unit ?? "s"}`;
  }
  if (typeof value !== "string") return undefined;
  const text = value.trim().toLowerCase();
  if (/^\d+$/.test(text)) return durationOf(Number(text), unit);
  const iso = /^p(?:(\d+)d)?(?:t(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?)?$/.exec(text);
  const parts = iso
    ? iso.slice(1).map((digits, index) => (digits === undefined ? "" : `${digits}${"dhms"[index]}`))
    : [...text.replaceAll(/,| and /g, " ").matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)\s*|(.)/g)].map(partOf);
  const duration = parts.join("");
  return !parts.includes("?") && DURATION_PATTERN.test(duration) ? duration : undefined;
}

/** Writes one number with its unit; `?` for anything else. */
function partOf([, digits, word = "", other]: RegExpMatchArray): string {
  const unit = UNITS[word] ?? UNITS[word.replace(/s$/, "")];
  if (other !== undefined) return other === " " ? "" : "?";
  if (unit === undefined) return "?";
  if (!digits!.includes(".")) return `${digits}${unit}`;
  const smaller = { d: ["h", 24], h: ["m", 60], m: ["s", 60], s: ["ms", 1_000] }[unit];
  const count = smaller === undefined ? Number.NaN : Number(digits) * (smaller[1] as number);
  return Number.isInteger(count) ? `${count}${smaller![0]}` : "?";
}

/** Returns the unit in the name of a field, such as `timeout_seconds`. */
function unitInName(key: string): string | undefined {
  const name = normalizeName(key);
  if (/(?:ms|millis|milliseconds)$/.test(name)) return "ms";
  if (/(?:seconds|secs|sec)$/.test(name)) return "s";
  return name.endsWith("minutes") ? "m" : undefined;
}

/** Whether a key counts attempts after the first one, as `retries` does. */
const countsRetries = (key: string): boolean => /retr(?:y|ies)/.test(normalizeName(key));

const RETRY_FIELDS = ["attempts", "backoff", "initial", "max", "on"];

/** Converts a number of retries, or a policy with other names, to `retry`. */
function retryOf(key: string, value: unknown): unknown {
  if (typeof value === "number" || (typeof value === "string" && /^\d+$/.test(value))) {
    const count = Number(value);
    return { attempts: countsRetries(key) && !/attempts/.test(normalizeName(key)) ? count + 1 : count };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { fields, misplaced } = intendRetry(value as Fields);
  return misplaced.length === 0 ? value : fields;
}

export const intendRetry = (retry: Fields): ReturnType<typeof intendFields> =>
  intendFields(retry, { known: RETRY_FIELDS, aliases: RETRY_ALIASES, convert: convertRetryField });

function convertRetryField(field: string, key: string, value: unknown): unknown {
  if (field === "attempts" && typeof value === "number" && countsRetries(key)) return value + 1;
  if (field === "initial" || field === "max") return durationOf(value, unitInName(key)) ?? value;
  return valueOfAlias(field, value) ?? value;
}

/** Returns the allowed value that another one stands for: `ignore` of `on_error` is `continue`. */
export function valueOfAlias(field: string, value: unknown): string | undefined {
  const aliases = VALUE_ALIASES[field];
  return aliases === undefined ? undefined : fieldOfAlias(String(value), Object.keys(aliases), aliases);
}

/** Converts the value of a field that is written under another name. */
export function convertField(field: string, key: string, value: unknown): unknown {
  switch (field) {
    case "retry":
      return retryOf(key, value);
    case "timeout":
    case "cache":
    case "for":
      return durationOf(value, unitInName(key)) ?? value;
    case "needs":
    case "assignees":
    case "accept_status":
      return Array.isArray(value) || typeof value === "object" ? value : [value];
    case "on_error":
      return valueOfAlias(field, value) ?? value;
    case "schedule":
      return scheduleOf(value);
    case "must_succeed":
      return mustSucceedOf(value);
    default:
      return value;
  }
}

/** Converts `"0 8 * * *"`, `{schedule: {cron: …}}` and `[{cron: …}]` to a schedule. */
function scheduleOf(value: unknown): unknown {
  if (typeof value === "string") return /^\S+(?: +\S+){4,5}$/.test(value.trim()) ? { cron: value } : value;
  const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (typeof only !== "object" || only === null) return value;
  const inner = (only as Fields)["schedule"];
  return Object.keys(only).length === 1 && inner !== undefined ? scheduleOf(inner) : only;
}

/** Converts `24h` and `every 24h` to `{every: 24h}`. */
function mustSucceedOf(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const every = durationOf(value.trim().replace(/^(every|within)\s+/i, ""));
  return every === undefined ? value : { every };
}

/**
 * Returns the values that a wrong one may stand for, the likeliest first. The schema of the field decides which one fits.
 * @param key the last key of its path
 */
export function conversionsOf(key: PropertyKey | undefined, value: unknown): unknown[] {
  const field = String(key ?? "");
  const converted: unknown[] = [];
  const alias = valueOfAlias(field, value);
  if (alias !== undefined) converted.push(alias);
  if (field === "retry") converted.push(retryOf("retries", value));
  if (field === "schedule") converted.push(scheduleOf(value));
  if (field === "must_succeed") converted.push(mustSucceedOf(value));
  const duration = durationOf(value);
  // A number without a unit is a duration only where nothing but durations fits: as a text it is the digits.
  const isBare = typeof value === "number";
  if (duration !== undefined && !isBare) converted.push(duration);
  if (typeof value === "string") converted.push(...conversionsOfText(value));
  if (isBare) converted.push(String(value));
  if (duration !== undefined && isBare) converted.push(duration);
  if (Array.isArray(value) && value.length === 1) converted.push(value[0]);
  if (!Array.isArray(value) && value !== null && value !== undefined) converted.push([value]);
  return converted;
}

function conversionsOfText(value: string): unknown[] {
  const text = value.trim();
  const converted: unknown[] = [];
  if (text !== "" && Number.isFinite(Number(text)) && !isLongNumber(text)) converted.push(Number(text));
  const truth = nearTruth(text);
  if (truth !== undefined) converted.push(truth);
  if (/^[[{]/.test(text)) {
    try {
      const { value: read, issues } = readJson(text);
      if (issues.length === 0) converted.push(read);
    } catch {
      // Not JSON after all.
    }
  }
  if (/^[\w.-]+(?:\s*,\s*[\w.-]+)+$/.test(text)) converted.push(text.split(/\s*,\s*/));
  if (text !== value) converted.push(text);
  return converted;
}

const nearTruth = (text: string): boolean | undefined =>
  /^(?:true|yes|on)$/i.test(text) ? true : /^(?:false|no|off)$/i.test(text) ? false : undefined;

/** Returns the id that a name stands for: `Fetch orders` is `fetch_orders`; undefined if nothing remains. */
export function idOf(name: unknown): string | undefined {
  if (typeof name !== "string" && typeof name !== "number") return undefined;
  const text = String(name);
  // The slug of a name in ASCII takes words apart otherwise.
  const ascii = isAscii(text) ? text.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2") : slugOf(text, 100);
  const id = ascii
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replace(/^[_0-9]+/, "")
    .replace(/_+$/, "")
    .slice(0, 64);
  return id === "" ? undefined : id;
}

/** Returns the nearest of the allowed values, where the value is text. */
export const nearValue = (value: unknown, allowed: readonly string[]): string | undefined =>
  typeof value === "string" ? nearMatch(value, allowed) : undefined;

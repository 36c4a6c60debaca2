/**
 * The times of signatures. Each moment has one spelling for each form: of signed bytes without separators, a spelling with other
 * digits before it would be another cut.
 */
import { MINUTE, SECOND } from "../clock.ts";
import { parseEventPath, readEventPath, type ReceivedEvent } from "../event-path.ts";
import { refused, shown } from "./parts.ts";
import type { SignatureResult, SignatureSettings } from "./types.ts";

/** How far the time of a signature may be from ours, in milliseconds: the replay window. */
const TOLERANCE_MS = 5 * MINUTE;
/** Ten digits of seconds are the years 2001 to 2286, and so are thirteen of milliseconds. */
export const SECONDS_PATTERN = String.raw`[1-9]\d{9}`;
const MILLISECONDS_PATTERN = String.raw`[1-9]\d{12}`;
/** RFC 3339, section 5.6, with the letters T and Z in upper case. */
const DATE_TIME_PATTERN = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)`;
/** A time in each form that `momentRefusal` reads. */
export const TIME_PATTERN = `(?:${MILLISECONDS_PATTERN}|${SECONDS_PATTERN}|${DATE_TIME_PATTERN})`;
const SECONDS = new RegExp(`^${SECONDS_PATTERN}$`);
const MILLISECONDS = new RegExp(`^${MILLISECONDS_PATTERN}$`);
const DATE_TIME = new RegExp(`^${DATE_TIME_PATTERN}$`);

/** @returns milliseconds since 1970; undefined for a text that is no time in seconds since 1970 as ten digits */
const momentOfSeconds = (text: string): number | undefined =>
  SECONDS.test(text) ? Number(text) * SECOND : undefined;

/** @returns milliseconds since 1970; undefined for a text that is no time since 1970 as ten or thirteen digits */
export const momentOfDigits = (text: string): number | undefined =>
  MILLISECONDS.test(text) ? Number(text) : momentOfSeconds(text);

/** @returns milliseconds since 1970; undefined for a text that has another form, or names a day that does not exist */
function momentOf(text: string): number | undefined {
  const digits = momentOfDigits(text);
  if (digits !== undefined || !DATE_TIME.test(text)) return digits;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/** Whether a moment is within the replay window. Both in milliseconds since 1970. */
export const isRecent = (at: number, now: number): boolean => Math.abs(now - at) <= TOLERANCE_MS;

/**
 * Reads the time of a signature in seconds since 1970.
 * @param name the header that holds it
 * @returns the refusal of one that can't be read, or is outside of the replay window; undefined for a good one
 */
export function timeRefusal(seconds: string, now: number, name: string): SignatureResult | undefined {
  const at = momentOfSeconds(seconds);
  return at === undefined
    ? refused(
        "malformed",
        `${name} must have a time in seconds since 1970, as ten digits, got ${shown(seconds)}.`,
      )
    : windowRefusal(at, now, name);
}

/** As `timeRefusal`, for a time in seconds or milliseconds since 1970 or as RFC 3339. */
export function momentRefusal(value: unknown, now: number, name: string): SignatureResult | undefined {
  const at = momentOf(String(value));
  return at === undefined
    ? refused(
        "malformed",
        `${name} must have a time in seconds (10 digits) or milliseconds (13 digits) since 1970, or such as ` +
          `2026-11-21T08:00:00Z, got ${shown(String(value))}.`,
      )
    : windowRefusal(at, now, name);
}

/**
 * The refusal of a delivery whose body has a signed time outside of the replay window, where the definition names one.
 * @param event one whose signature is valid
 */
export function bodyTimeRefusal(
  { timestamp }: SignatureSettings,
  event: ReceivedEvent,
  now: number,
): SignatureResult | undefined {
  const path = timestamp === undefined ? undefined : parseEventPath(timestamp);
  return path && momentRefusal(readEventPath(event, path) ?? "", now, timestamp!);
}

function windowRefusal(at: number, now: number, name: string): SignatureResult | undefined {
  if (isRecent(at, now)) return undefined;
  const apart = now - at;
  return refused(
    "expired",
    `The time in ${name} is ${Math.round(Math.abs(apart) / SECOND)} s ${apart > 0 ? "ago" : "ahead"}; at most ` +
      `${TOLERANCE_MS / SECOND} s are accepted. Send the delivery again with a new signature, or correct the sender's clock.`,
  );
}

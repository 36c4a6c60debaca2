/**
 * Numbers that a double can't hold: an integer beyond ±(2^53 − 1), or a decimal with more digits than the double nearest to it.
 * JSON has no form for them that every program reads without a loss, so each is a text with its digits, in everything that
 * enters, leaves and is stored. Such a text is a long number: expressions and schemas take it for the number that it writes.
 * (Child processes load this file: it imports nothing.)
 */

/** Maximum length of a long number, in characters. Longer texts are no numbers: calculating with them takes too long. */
export const MAX_LONG_NUMBER_CHARS = 1_000;

/** A number as JSON, SQL and programming languages write it in decimal notation (RFC 8259, section 6). */
const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const INTEGER = /^-?\d+$/;

/** Every number with this many digits, or fewer, is the shortest text of a double. (IEEE 754: DBL_DIG is 15.) */
const DOUBLE_DIGITS = 15;
/** Length of the shortest long number, in characters: the integer 9007199254740992 has 16. */
const MIN_LONG_NUMBER_CHARS = 16;

/**
 * Reads a number in decimal notation, with or without an exponent.
 * @returns a number if a double holds exactly what is written, else a long number, without an exponent; undefined if the text
 *   is no number, or would have more than `MAX_LONG_NUMBER_CHARS` characters
 */
export function readNumber(source: string): number | string | undefined {
  const value = Number(source);
  if (source.length <= DOUBLE_DIGITS && !/[eE]/.test(source)) return NUMBER.test(source) ? value : undefined;
  const parts = NUMBER.exec(source);
  if (parts === null) return undefined;
  if (isHeld(source, value)) return value;
  const [, sign = "", whole = "", fraction = "", exponent] = parts;
  if (exponent === undefined) return source.length <= MAX_LONG_NUMBER_CHARS ? source : undefined;
  const digits = (whole + fraction).replace(/^0+(?=\d)/, "");
  const decimals = fraction.length - Number(exponent);
  if (Math.max(digits.length, digits.length - decimals, decimals + 1) > MAX_LONG_NUMBER_CHARS - 2)
    return undefined;
  if (decimals <= 0) return `${sign}${digits}${"0".repeat(-decimals)}`;
  const padded = digits.padStart(decimals + 1, "0");
  return `${sign}${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`;
}

/** Whether a value is a long number: a text with the digits of a number that a double can't hold. */
export function isLongNumber(value: unknown): value is string {
  if (typeof value !== "string") return false;
  const { length } = value;
  if (length < MIN_LONG_NUMBER_CHARS || length > MAX_LONG_NUMBER_CHARS) return false;
  const parts = NUMBER.exec(value);
  return parts !== null && parts[4] === undefined && !isHeld(value, Number(value));
}

/** Whether a double is exactly the number that a text writes. Integers are held up to ±(2^53 − 1), so that ids of one field have one type. */
function isHeld(source: string, value: number): boolean {
  if (INTEGER.test(source)) return Number.isSafeInteger(value);
  return Number.isFinite(value) && significant(source) === significant(String(value));
}

/** The digits of a number without zeros around them, and the power of ten of the first one: equal if the numbers are. */
function significant(source: string): string {
  const [, , whole = "", fraction = "", exponent = "0"] = NUMBER.exec(source.replace("e+", "e"))!;
  const digits = whole + fraction;
  let [start, end] = [0, digits.length];
  while (start < end && digits[start] === "0") start += 1;
  // A pattern for the zeros at the end would try each zero in between, too.
  while (end > start && digits[end - 1] === "0") end -= 1;
  return start === end ? "" : `${digits.slice(start, end)}e${whole.length - start + Number(exponent)}`;
}

/**
 * Values of databases as plain JSON, the same from every one of them: whole numbers and decimals are numbers where a
 * double holds them exactly and text where not, times are ISO text, bytes are base64. NaN and infinities are text.
 * (Children load this file: it imports nothing.)
 */

/** A decimal of so many digits comes back from a double as it went in. */
const EXACT_DIGITS = 15;

export const integerToJson = (value: bigint): number | string =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(value)
    : String(value);

export const floatToJson = (value: number): number | string =>
  Number.isFinite(value) ? value : String(value);

/** @param text digits with a sign, a point or an exponent, or a word such as NaN */
export function decimalToJson(text: string): number | string {
  if (/^-?\d+$/.test(text)) return integerToJson(BigInt(text));
  const digits = text
    .replace(/e.*$/i, "")
    .replace(/^-?0*\.?0*/, "")
    .replace(".", "");
  const number = Number(text);
  return digits.length <= EXACT_DIGITS && Number.isFinite(number) ? number : text;
}

export const bytesToBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");

/** `2026-01-01 08:00:00+02` as `2026-01-01T08:00:00+02:00`; what is no such time stays as it is. */
export function toIsoTimestamp(text: string): string {
  const parts =
    /^([+-]?\d{4,6}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d+)?)(?:([+-]\d\d)(?::?(\d\d))?|(Z))?$/.exec(text);
  if (parts === null) return text;
  const [, date, time, hours, minutes, zulu] = parts;
  const offset = hours === undefined ? (zulu ?? "") : `${hours}:${minutes ?? "00"}`;
  return `${date}T${time}${offset === "+00:00" ? "Z" : offset}`;
}

/** The value of a column that holds JSON as text. */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

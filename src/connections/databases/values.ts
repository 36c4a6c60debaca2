/**
 * Converts values of databases to plain JSON, in the same way for all of them: integers and decimals are numbers if a double
 * holds them exactly, otherwise text; times are ISO text, bytes are base64, NaN and infinities are text.
 * (Children load this file: it imports nothing.)
 */

/** A double preserves decimals with up to this many digits. */
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

/** Converts `2026-01-01 08:00:00+02` to `2026-01-01T08:00:00+02:00`; other text is unchanged. */
export function toIsoTimestamp(text: string): string {
  const parts =
    /^([+-]?\d{4,6}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d+)?)(?:([+-]\d\d)(?::?(\d\d))?|(Z))?$/.exec(text);
  if (parts === null) return text;
  const [, date, time, hours, minutes, zulu] = parts;
  const offset = hours === undefined ? (zulu ?? "") : `${hours}:${minutes ?? "00"}`;
  return `${date}T${time}${offset === "+00:00" ? "Z" : offset}`;
}

/** Parses the value of a column that holds JSON as text. */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

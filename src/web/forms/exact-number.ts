/** Numbers that people type. The server takes the text of a number for it where JavaScript can't hold all of its digits. */

/** @returns a number if it has the digits that were typed, else the text */
export function readNumber(typed: string): number | string {
  const value = Number(typed);
  const isHeld = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
  return typed.trim() !== "" && isHeld && digitsOf(typed) === digitsOf(String(value)) ? value : typed;
}

/** The digits without zeros before and after them. */
const digitsOf = (number: string): string =>
  number
    .replace(/e.*$/i, "")
    .replaceAll(/\D/g, "")
    .replaceAll(/^0+|0+$/g, "");

/** A number with an exponent that only its digits could hold. */
export class ExponentError extends Error {}

/** Not known to the types yet. Browsers from before 2025 leave the source out. */
type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

const exactNumber: Reviver = (_key, value, context) => {
  if (typeof value !== "number" || context?.source === undefined) return value;
  const number = readNumber(context.source);
  if (typeof number === "string" && /e/i.test(number))
    throw new ExponentError(`Write ${number} with all of its digits.`);
  return number;
};

/**
 * Parses JSON, with all digits of its numbers.
 * @throws SyntaxError; ExponentError
 */
export const parseJson = (text: string): unknown => JSON.parse(text, exactNumber);

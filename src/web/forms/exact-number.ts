/** Numbers that people type, read as the server reads them: with all of their digits. */
import { MAX_LONG_NUMBER_CHARS, readNumber } from "../../../schemas/long-numbers.ts";
import { readYamlNumber } from "../../../schemas/yaml-numbers.ts";

/** @returns a number or a long number; the text itself if it is no number, or one that is too long */
export const readTyped = (typed: string): number | string =>
  /\d/.test(typed) ? (readYamlNumber(typed.trim()) ?? typed) : typed;

/** Maximum number of characters of a number that a message shows. */
const MAX_SHOWN = 60;

/** Says that a number is too long for a long number, in a sentence. */
export const tooLongMessage = (source: string): string =>
  `Numbers must have at most ${MAX_LONG_NUMBER_CHARS} digits, got ${source.length > MAX_SHOWN ? `${source.slice(0, MAX_SHOWN)}…` : source}.`;

export const TOO_LONG_FIX = "Write a shorter number, or text between quotes.";

/** A number that is too long for a long number. */
export class NumberTooLongError extends Error {}

/** Not known to the types yet. Browsers from before 2025 leave the source out. */
type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

const exactNumber: Reviver = (_key, value, context) => {
  if (typeof value !== "number" || context?.source === undefined) return value;
  const number = readNumber(context.source);
  if (number === undefined) throw new NumberTooLongError(tooLongMessage(context.source));
  return number;
};

/**
 * Parses JSON, with all digits of its numbers.
 * @throws SyntaxError; NumberTooLongError
 */
export const parseJson = (text: string): unknown => JSON.parse(text, exactNumber);

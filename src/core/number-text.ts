/** Reads numbers as people and programs write them. JSON has fewer forms. (Child processes load this file.) */
import { readNumber } from "../../schemas/long-numbers.ts";

const NUMBER_FORMAT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Whether a text is a number in one of these forms, of any length. */
export const isNumberText = (text: string): boolean => NUMBER_FORMAT.test(text);

/**
 * Reads a number that may have a plus sign, zeros in front, or a point with digits on one side only.
 * @returns a number, or a long number; undefined if the text is no number, or too long for one
 */
export const readNumberText = (text: string): number | string | undefined =>
  isNumberText(text) ? readNumber(inJsonForm(text)) : undefined;

/** Writes a number in the form of JSON. @param text a number that `readNumberText` reads */
const inJsonForm = (text: string): string =>
  text
    .replace(/^\+/, "")
    .replace(/^(-?)(?=\.)/, "$10")
    .replace(/^(-?)0+(?=\d)/, "$1")
    .replace(/\.(?!\d)/, "");

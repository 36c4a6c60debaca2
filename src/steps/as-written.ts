import { visibleText } from "../../schemas/hidden-characters.ts";

/** Maximum length of a value in the description of a step, in characters. */
const MAX_CHARS = 200;

/** Returns a field as its definition has it, expressions included, as one line without hidden characters. */
export const inOneLine = (value: unknown): string =>
  visibleText((typeof value === "string" ? value : (JSON.stringify(value) ?? "")).replaceAll(/\s+/g, " "));

/** Returns the same, shortened. */
export function asWritten(value: unknown): string {
  const text = inOneLine(value);
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS).toWellFormed()}…` : text;
}

/** Returns the items of a list as its definition has them, separated by commas; any other value as it is. */
export const allAsWritten = (value: unknown): string =>
  Array.isArray(value) ? value.map(asWritten).join(", ") : asWritten(value);

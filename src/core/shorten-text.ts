/**
 * The beginning of a text that is too long, with its full length, for people.
 * @param maxChars of the beginning, in UTF-16 code units
 */
export const shortenText = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${text.slice(0, maxChars).toWellFormed()}… (${text.length} characters)`;

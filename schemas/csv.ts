/**
 * Writes CSV (RFC 4180), for mails and for what the web interface saves. Spreadsheets evaluate a field that begins with `=`, `+`, `-` or
 * `@` as a formula, which can send the contents of the sheet to an attacker. Such a text gets an apostrophe in front, as OWASP advises; numbers
 * stay as they are, also those that are texts with all digits.
 */

/** The beginning of a text that a spreadsheet may take for a formula; a tab, a line break and the full-width forms too. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
/** A number with a sign, which no spreadsheet evaluates. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

export const csvText = (lines: readonly (readonly string[])[]): string =>
  lines.map((line) => `${csvLine(line)}\r\n`).join("");

// An empty line would be no row.
const csvLine = (line: readonly string[]): string =>
  line.length === 1 && line[0] === "" ? '""' : line.map(csvField).join(",");

function csvField(text: string): string {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * Writes rows as CSV (RFC 4180). Spreadsheets evaluate a field that begins with `=`, `+`, `-` or `@` as a formula, which can send
 * what is in the sheet to somebody. Such a text gets an apostrophe in front, as OWASP advises; numbers stay as they are.
 */
import { cellText, columnsOf, rowOf } from "./table.ts";

/** What a spreadsheet may take for a formula; a tab, a line break and the full-width forms too. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
/** A number with a sign, which no spreadsheet evaluates. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** @param options.heading whether the first line has the names of the columns; default: yes */
export function toCsv(
  rows: readonly unknown[],
  columns?: readonly string[],
  { heading = true }: { heading?: boolean } = {},
): string {
  const objects = rows.map(rowOf);
  const names = columns ?? columnsOf(objects);
  const lines = [
    ...(heading ? [names] : []),
    ...objects.map((row) => names.map((name) => cellText(row[name]))),
  ];
  return lines.map((line) => `${line.map(field).join(",")}\r\n`).join("");
}

function field(text: string): string {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

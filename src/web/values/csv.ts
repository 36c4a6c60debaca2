/** Rows as CSV (RFC 4180), safe to open in a spreadsheet. */
import { cellValue, type Column, type Row, cellText } from "./rows.ts";

/** What a spreadsheet would take for a formula (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r]/;

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function field(value: unknown): string {
  // A number can't be a formula, and -5 has to stay one.
  if (typeof value === "number") return String(value);
  const text = cellText(value);
  return quoted(FORMULA.test(text) ? `'${text}` : text);
}

export function toCsv(rows: readonly Row[], columns: readonly Column[]): string {
  const lines = [
    columns.map(({ name }) => field(name)),
    ...rows.map((row) => columns.map(({ name }) => field(cellValue(row, name)))),
  ];
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

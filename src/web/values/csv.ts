/** Formats rows as CSV (RFC 4180) without cells that a spreadsheet would execute. */
import { cellValue, type Column, type Row, cellText } from "./rows.ts";

/** Matches text that a spreadsheet interprets as a formula (OWASP, "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r]/;

const quote = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function formatField(value: unknown): string {
  // A number is never a formula, and -5 must stay a number.
  if (typeof value === "number") return String(value);
  const text = cellText(value);
  return quote(FORMULA.test(text) ? `'${text}` : text);
}

export function toCsv(rows: readonly Row[], columns: readonly Column[]): string {
  const lines = [
    columns.map(({ name }) => formatField(name)),
    ...rows.map((row) => columns.map(({ name }) => formatField(cellValue(row, name)))),
  ];
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

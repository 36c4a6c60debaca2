/** Writes rows as CSV for an attachment. */
import { csvText } from "../../../schemas/csv.ts";
import { cellText, columnsOf, rowOf } from "./table.ts";

export function toCsv(rows: readonly unknown[], columns?: readonly string[]): string {
  const objects = rows.map(rowOf);
  const names = columns ?? columnsOf(objects);
  return csvText([names, ...objects.map((row) => names.map((name) => textOf(row, name)))]);
}

const textOf = (row: Readonly<Record<string, unknown>>, name: string): string =>
  Object.hasOwn(row, name) ? cellText(row[name]) : "";

/** Writes the rows of a table as CSV, to be saved. */
import { csvText } from "../../../schemas/csv.ts";
import { cellText, cellValue, type Column, type Row } from "./rows.ts";

export const toCsv = (rows: readonly Row[], columns: readonly Column[]): string =>
  csvText([
    columns.map(({ name }) => name),
    ...rows.map((row) => columns.map(({ name }) => cellText(cellValue(row, name)))),
  ]);

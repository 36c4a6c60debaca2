/** Makes the table of a mail from rows of a step. */
import { cellText } from "../../../schemas/csv.ts";
import type { MailTable } from "./document.ts";

/** Maximum number of columns of a table. */
export const MAX_COLUMNS = 20;
/** Maximum number of rows of a table. */
export const MAX_ROWS = 500;
/** Number of rows that a table shows unless it says otherwise. */
const DEFAULT_ROWS = 100;
/** Maximum length of a cell, in characters. */
const MAX_CELL = 200;

interface TableOptions {
  title?: string | undefined;
  /** The columns to show, in this order; left out, those of the rows. */
  columns?: readonly string[] | undefined;
  maxRows?: number | undefined;
}

type Row = Readonly<Record<string, unknown>>;

/** The names of all columns of some rows, in the order in which they first appear. */
export const columnsOf = (rows: readonly Row[]): string[] => [
  ...new Set(rows.flatMap((row) => Object.keys(row))),
];

/** @param rows objects; another value is a row with one column, `value` */
export function mailTable(
  rows: readonly unknown[],
  { title, columns, maxRows = DEFAULT_ROWS }: TableOptions = {},
): MailTable {
  const objects = rows.slice(0, maxRows).map(rowOf);
  const all = columns ?? columnsOf(objects);
  const shown = all.slice(0, MAX_COLUMNS);
  const cut: string[] = [];
  if (rows.length > objects.length) cut.push(`${rows.length - objects.length} of ${rows.length} rows`);
  if (all.length > shown.length)
    cut.push(
      `${all.length - shown.length} of ${all.length} columns (${all.slice(MAX_COLUMNS, MAX_COLUMNS + 10).join(", ")})`,
    );
  const cells = objects.map((row) => shown.map((name) => shorten(cellText(row[name]))));
  const note =
    rows.length === 0 ? "No rows." : cut.length === 0 ? undefined : `Left out: ${cut.join(" and ")}.`;
  return {
    kind: "table",
    title,
    columns: shown,
    rows: cells,
    numeric: shown.map(
      (name) =>
        objects.some((row) => typeof row[name] === "number") &&
        objects.every((row) => ["number", "undefined"].includes(typeof (row[name] ?? undefined))),
    ),
    note,
  };
}

/** A row as an object with columns. */
export const rowOf = (value: unknown): Row =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Row) : { value };

const shorten = (text: string): string => {
  const characters = Array.from(text.slice(0, 2 * MAX_CELL + 2));
  return characters.length > MAX_CELL ? `${characters.slice(0, MAX_CELL - 1).join("")}…` : text;
};

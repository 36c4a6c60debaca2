/** Recognizes rows in values: their columns, sort order and, where it is useful, a chart. */
import { cellText } from "../../../schemas/csv.ts";

export type Row = Readonly<Record<string, unknown>>;
export type ColumnKind = "number" | "text" | "time" | "boolean" | "json";

export interface Column {
  name: string;
  kind: ColumnKind;
}

export interface Rows {
  rows: readonly Row[];
  columns: readonly Column[];
  /** Number of rows that the query returned, or changed if it returned none; null if unknown. */
  rowCount: number | null;
  /** Whether the query returned more rows than these. */
  truncated: boolean;
}

const SQL_KEYS: ReadonlySet<string> = new Set(["rows", "columns", "row_count", "truncated"]);

/** @returns the rows of a `sql` step's output or of a list of flat objects; null for any other value */
export function parseRows(value: unknown): Rows | null {
  if (Array.isArray(value)) {
    if (value.length === 0 || !value.every((row) => isObject(row) && Object.values(row).every(isFlat)))
      return null;
    return {
      rows: value,
      columns: columnsOf(value, namesIn(value), new Map()),
      rowCount: null,
      truncated: false,
    };
  }
  if (!isObject(value) || !Object.keys(value).every((key) => SQL_KEYS.has(key))) return null;
  const { rows, columns, row_count: count, truncated } = value;
  if (!Array.isArray(rows) || !rows.every(isObject)) return null;
  const declared = declaredColumns(columns);
  return {
    rows,
    columns: columnsOf(rows, declared.size > 0 ? [...declared.keys()] : namesIn(rows), declared),
    rowCount: typeof count === "number" ? count : null,
    truncated: truncated === true,
  };
}

const isObject = (value: unknown): value is Row =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isFlat = (value: unknown): boolean => typeof value !== "object" || value === null;

const formatRows = (n: number): string => `${n.toLocaleString("en")} ${n === 1 ? "row" : "rows"}`;

/** @returns how many rows the query returned or changed, as a sentence */
export function describeRowCount({ rows, columns, rowCount, truncated }: Rows): string {
  if (truncated)
    return `First ${formatRows(rows.length)}. The query returned more than the limit of the step.`;
  if (rows.length > 0) return formatRows(rows.length);
  if (rowCount !== null && rowCount > 0) return `${formatRows(rowCount)} changed.`;
  const names = columns.map(({ name }) => name).join(", ");
  return names === "" ? "No rows." : `No rows. Columns: ${names}.`;
}

/** @returns the value of a column in a row; null if there is none. Inherited properties are ignored. */
export const cellValue = (row: Row, name: string): unknown =>
  Object.hasOwn(row, name) ? (row[name] ?? null) : null;

function namesIn(rows: readonly Row[]): string[] {
  const names = new Set<string>();
  for (const row of rows) for (const name of Object.keys(row)) names.add(name);
  return [...names];
}

/** @returns the column names that a `sql` step declares, with their types */
function declaredColumns(columns: unknown): Map<string, unknown> {
  const declared = new Map<string, unknown>();
  if (!Array.isArray(columns)) return declared;
  for (const column of columns)
    if (isObject(column) && typeof column["name"] === "string") declared.set(column["name"], column["type"]);
  return declared;
}

const columnsOf = (
  rows: readonly Row[],
  names: readonly string[],
  declared: ReadonlyMap<string, unknown>,
): Column[] => names.map((name) => ({ name, kind: kindOf(rows, name, declared.get(name)) }));

function kindOf(rows: readonly Row[], name: string, declared: unknown): ColumnKind {
  const values = rows.map((row) => cellValue(row, name)).filter((value) => value !== null);
  if (values.length === 0) return declared === "number" || declared === "boolean" ? declared : "text";
  // A number that a JSON number can't hold exactly is a text with its digits.
  if (values.every((value) => typeof value === "number" || isDecimal(value))) {
    if (declared === "number" || values.some((value) => typeof value === "number")) return "number";
  }
  if (values.every((value) => typeof value === "boolean")) return "boolean";
  if (values.every((value) => parseTimestamp(value) !== null)) return "time";
  return values.every(isFlat) ? "text" : "json";
}

const DECIMAL = /^-?(\d+)(?:\.(\d+))?$/;

const isDecimal = (value: unknown): value is string => typeof value === "string" && DECIMAL.test(value);

const TIMESTAMP =
  /^(\d{4})-(\d\d)(?:-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d(?::?\d\d)?)?)?)?$/;

/**
 * Parses a month, a day or a timestamp in the formats of common databases. Without an offset it is UTC.
 * @returns milliseconds since 1970; null if the value is no timestamp
 */
export function parseTimestamp(value: unknown): number | null {
  const parts = typeof value === "string" ? TIMESTAMP.exec(value) : null;
  if (parts === null) return null;
  const [, year, month, day = "01", time = "00:00", zone = "Z"] = parts;
  const offset = zone === "Z" ? zone : `${zone.slice(0, 3)}:${zone.slice(3).replace(":", "") || "00"}`;
  const timestamp = Date.parse(`${year}-${month}-${day}T${time}${offset}`);
  return Number.isNaN(timestamp) ? null : timestamp;
}

const collator = new Intl.Collator(undefined, { numeric: true });

/** Sorts rows by a column. The sort is stable, and rows without a value are always last. */
export function sortRows(rows: readonly Row[], { name, kind }: Column, descending: boolean): Row[] {
  const sign = descending ? -1 : 1;
  const keyed = rows.map((row) => {
    const value = cellValue(row, name);
    return { row, key: value === null ? null : sortKey(value, kind) };
  });
  const compareKeys = kind === "number" ? compareNumbers : compareTexts;
  return keyed
    .toSorted(({ key: a }, { key: b }) =>
      a === null || b === null ? Number(a === null) - Number(b === null) : sign * compareKeys(a, b),
    )
    .map(({ row }) => row);
}

type SortKey = number | string;

function sortKey(value: unknown, kind: ColumnKind): SortKey {
  if (kind === "boolean") return Number(value);
  if (kind === "number") return value as SortKey;
  return (kind === "time" ? parseTimestamp(value) : null) ?? cellText(value);
}

const compareTexts = (a: SortKey, b: SortKey): number =>
  typeof a === "number" && typeof b === "number" ? a - b : collator.compare(`${a}`, `${b}`);

/** Compares numbers, and texts with the digits of numbers, by all their digits. */
function compareNumbers(a: SortKey, b: SortKey): number {
  const [left, right] = [DECIMAL.exec(`${a}`), DECIMAL.exec(`${b}`)];
  // Doubles that differ are in the right order; a number with an exponent is no long one.
  if (Number(a) !== Number(b) || left === null || right === null) return Number(a) - Number(b);
  const decimals = Math.max(left[2]?.length ?? 0, right[2]?.length ?? 0);
  const digits = ([, whole = "", fraction = ""]: RegExpExecArray): bigint =>
    BigInt(whole + fraction.padEnd(decimals, "0"));
  const difference = digits(left) - digits(right);
  const order = difference < 0n ? -1 : Number(difference > 0n);
  return `${a}`.startsWith("-") ? -order : order;
}

export interface Chart {
  kind: "bar" | "line";
  xAxis: Column;
  series: readonly Column[];
  /** Bars on top of each other or side by side, which have one axis in common; left out, small series have an axis of their own. */
  layout?: "stacked" | "grouped";
  /** One for each series, by the names of the palette. */
  colors?: readonly string[];
}

const MAX_CHART_ROWS = 200;
const MAX_SERIES = 4;
/** Maximum length of a category name. Longer texts do not fit below a bar. */
const MAX_CATEGORY_CHARS = 60;

/**
 * Suggests a chart for rows with one column of unique categories or times, and one to four numeric columns that are no
 * identifiers.
 * @returns null if the rows do not fit
 */
export function suggestChart(rows: readonly Row[], columns: readonly Column[]): Chart | null {
  if (rows.length < 2 || rows.length > MAX_CHART_ROWS) return null;
  const series = columns.filter(({ kind }) => kind === "number");
  const [xAxis, ...otherColumns] = columns.filter(({ kind }) => kind !== "number");
  if (xAxis === undefined || otherColumns.length > 0 || series.length === 0 || series.length > MAX_SERIES)
    return null;
  if (xAxis.kind === "json" || series.some(({ name }) => isIdentifier(name))) return null;
  const xValues = rows.map((row) => cellValue(row, xAxis.name));
  if (xValues.includes(null) || new Set(xValues).size < xValues.length) return null;
  if (xAxis.kind === "time") return { kind: "line", xAxis, series };
  return xValues.some((value) => cellText(value).length > MAX_CATEGORY_CHARS)
    ? null
    : { kind: "bar", xAxis, series };
}

const isIdentifier = (name: string): boolean => /(?:^|_)id$/i.test(name) || /[a-z]Id$/.test(name);

/** Rows among values: what is a table, of which columns, in which order, and whether a chart of it would say anything. */

export type Row = Readonly<Record<string, unknown>>;
export type ColumnKind = "number" | "text" | "time" | "boolean" | "json";

export interface Column {
  name: string;
  kind: ColumnKind;
}

export interface Rows {
  rows: readonly Row[];
  columns: readonly Column[];
  /** How many rows the query gave, or changed where it gave none; null where nothing says so. */
  rowCount: number | null;
  /** There were more than these. */
  truncated: boolean;
}

const SQL_KEYS: ReadonlySet<string> = new Set(["rows", "columns", "row_count", "truncated"]);

/** The rows that a value is: as a `sql` step gives them, or a list of flat objects. Null for anything else. */
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

/** What a row has in a column; null where it has nothing. Names such as `constructor` are a row's only if it has them. */
export const cellValue = (row: Row, name: string): unknown =>
  Object.hasOwn(row, name) ? (row[name] ?? null) : null;

function namesIn(rows: readonly Row[]): string[] {
  const names = new Set<string>();
  for (const row of rows) for (const name of Object.keys(row)) names.add(name);
  return [...names];
}

/** The names that a `sql` step gives with its rows, each with its declared type. */
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
  // A number that JSON can't hold exactly is text in a column of numbers.
  if (values.every((value) => typeof value === "number" || (declared === "number" && isNumeric(value))))
    return "number";
  if (values.every((value) => typeof value === "boolean")) return "boolean";
  if (values.every((value) => parseTimestamp(value) !== null)) return "time";
  return values.every(isFlat) ? "text" : "json";
}

const isNumeric = (value: unknown): boolean =>
  typeof value === "string" && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value);

const MOMENT =
  /^(\d{4})-(\d\d)(?:-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d(?::?\d\d)?)?)?)?$/;

/** Milliseconds since 1970 of a month, a day or a moment as databases write them; without a zone, UTC. Else null. */
export function parseTimestamp(value: unknown): number | null {
  const parts = typeof value === "string" ? MOMENT.exec(value) : null;
  if (parts === null) return null;
  const [, year, month, day = "01", time = "00:00", zone = "Z"] = parts;
  const offset = zone === "Z" ? zone : `${zone.slice(0, 3)}:${zone.slice(3).replace(":", "") || "00"}`;
  const moment = Date.parse(`${year}-${month}-${day}T${time}${offset}`);
  return Number.isNaN(moment) ? null : moment;
}

const collator = new Intl.Collator(undefined, { numeric: true });

/** A cell as text: objects as JSON, null as nothing. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The rows in the order of a column. Equal ones keep theirs; those without a value come last either way. */
export function sortRows(rows: readonly Row[], { name, kind }: Column, descending: boolean): Row[] {
  const sign = descending ? -1 : 1;
  const keyed = rows.map((row) => {
    const value = cellValue(row, name);
    return { row, key: value === null ? null : sortKey(value, kind) };
  });
  return keyed
    .toSorted(({ key: a }, { key: b }) => {
      if (a === null || b === null) return Number(a === null) - Number(b === null);
      return (
        sign * (typeof a === "number" && typeof b === "number" ? a - b : collator.compare(`${a}`, `${b}`))
      );
    })
    .map(({ row }) => row);
}

function sortKey(value: unknown, kind: ColumnKind): number | string {
  if (kind === "number" || kind === "boolean") return Number(value);
  return (kind === "time" ? parseTimestamp(value) : null) ?? cellText(value);
}

export interface Chart {
  kind: "bar" | "line";
  /** The column that the chart runs along. */
  xAxis: Column;
  series: readonly Column[];
}

const MOST_ROWS = 200;
const MOST_SERIES = 4;
/** Longer names of a category are prose, and no label of a bar. */
const LONGEST_CATEGORY = 60;

/**
 * The chart that rows lend themselves to: one column of categories or times, each there once, and up to four of
 * numbers. Numbers that name things are none.
 */
export function suggestChart(rows: readonly Row[], columns: readonly Column[]): Chart | null {
  if (rows.length < 2 || rows.length > MOST_ROWS) return null;
  const series = columns.filter(({ kind }) => kind === "number");
  const [xAxis, ...more] = columns.filter(({ kind }) => kind !== "number");
  if (xAxis === undefined || more.length > 0 || series.length === 0 || series.length > MOST_SERIES)
    return null;
  if (xAxis.kind === "json" || series.some(({ name }) => isIdentifier(name))) return null;
  const places = rows.map((row) => cellValue(row, xAxis.name));
  if (places.includes(null) || new Set(places).size < places.length) return null;
  if (xAxis.kind === "time") return { kind: "line", xAxis, series };
  return places.some((place) => cellText(place).length > LONGEST_CATEGORY)
    ? null
    : { kind: "bar", xAxis, series };
}

const isIdentifier = (name: string): boolean => /(?:^|_)id$/i.test(name) || /[a-z]Id$/.test(name);

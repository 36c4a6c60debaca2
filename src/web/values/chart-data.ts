/** What a chart of rows draws, and what it says to who does not see it. */
import { cellValue, type Chart, parseTimestamp, type Row, cellText } from "./rows.ts";

interface Series {
  /** Of our own: a column's name may hold dots, which the chart would take for a path. */
  key: string;
  label: string;
  /** It is so much smaller than the others that it needs an axis of its own. */
  right: boolean;
}

interface Bars {
  data: Record<string, string | number | null>[];
  series: Series[];
  hasRight: boolean;
}

/** From so many times smaller on, a series would lie flat on the axis of the greatest. */
const APART = 20;

export function buildChartData({ kind, xAxis, series }: Chart, rows: readonly Row[]): Bars {
  const greatest = series.map(({ name }) =>
    rows.reduce((most, row) => Math.max(most, Math.abs(numberIn(row, name) ?? 0)), 0),
  );
  const limit = Math.max(...greatest) / APART;
  const drawn = series.map(({ name }, index) => ({
    key: `s${index}`,
    label: name,
    right: greatest[index]! < limit && greatest[index]! > 0,
  }));
  const ordered =
    kind === "line"
      ? rows.toSorted(
          (a, b) => parseTimestamp(cellValue(a, xAxis.name))! - parseTimestamp(cellValue(b, xAxis.name))!,
        )
      : rows;
  const data = ordered.map((row) =>
    Object.fromEntries<string | number | null>([
      ["along", cellText(cellValue(row, xAxis.name))],
      ...drawn.map(({ key, label }) => [key, numberIn(row, label)] as const),
    ]),
  );
  return { data, series: drawn, hasRight: drawn.some(({ right }) => right) };
}

function numberIn(row: Row, name: string): number | null {
  const value = cellValue(row, name);
  return value === null ? null : Number(value);
}

/** "Bar chart of revenue by region, 4 rows. revenue: from 17000 (south) to 22958.05 (north). …" */
export function describeChart({ kind, xAxis, series }: Chart, rows: readonly Row[]): string {
  const title = `${kind === "bar" ? "Bar" : "Line"} chart of ${series.map(({ name }) => name).join(", ")} by ${xAxis.name}, ${rows.length} rows.`;
  const ranges = series.map(({ name }) => {
    const points = rows.flatMap((row) => {
      const value = numberIn(row, name);
      return value === null ? [] : [{ value, at: cellText(cellValue(row, xAxis.name)) }];
    });
    const [first, ...rest] = points;
    if (first === undefined) return `${name}: no values.`;
    const least = rest.reduce((a, b) => (b.value < a.value ? b : a), first);
    const most = rest.reduce((a, b) => (b.value > a.value ? b : a), first);
    return `${name}: from ${least.value} (${least.at}) to ${most.value} (${most.at}).`;
  });
  return [title, ...ranges, "The table has all values."].join(" ");
}

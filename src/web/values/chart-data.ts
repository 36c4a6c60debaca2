/** The data of a chart of rows, and its text alternative for screen readers. */
import { cellText } from "../../../schemas/csv.ts";
import { cellValue, type Chart, parseTimestamp, type Row } from "./rows.ts";

interface Series {
  /** A generated key. A column name can contain dots, which the chart library would read as a path. */
  key: string;
  label: string;
  /** Uses the right axis, because its values are much smaller than those of the others. */
  onRightAxis: boolean;
}

interface ChartData {
  data: Record<string, string | number | null>[];
  series: Series[];
  hasRightAxis: boolean;
}

/** A series whose maximum is this many times smaller than the greatest one would look flat on the same axis. */
const RIGHT_AXIS_RATIO = 20;

/** The key of the x-axis value in each data point. */
export const X_KEY = "x";

export function buildChartData({ kind, xAxis, series, layout }: Chart, rows: readonly Row[]): ChartData {
  const maxima = series.map(({ name }) =>
    rows.reduce((max, row) => Math.max(max, Math.abs(numberIn(row, name) ?? 0)), 0),
  );
  const limit = Math.max(...maxima) / RIGHT_AXIS_RATIO;
  const chartSeries = series.map(({ name }, index) => ({
    key: `s${index}`,
    label: name,
    onRightAxis: layout === undefined && maxima[index]! < limit && maxima[index]! > 0,
  }));
  const ordered =
    kind === "line"
      ? rows.toSorted(
          (a, b) => parseTimestamp(cellValue(a, xAxis.name))! - parseTimestamp(cellValue(b, xAxis.name))!,
        )
      : rows;
  const data = ordered.map((row) =>
    Object.fromEntries<string | number | null>([
      [X_KEY, cellText(cellValue(row, xAxis.name))],
      ...chartSeries.map(({ key, label }) => [key, numberIn(row, label)] as const),
    ]),
  );
  return { data, series: chartSeries, hasRightAxis: chartSeries.some(({ onRightAxis }) => onRightAxis) };
}

function numberIn(row: Row, name: string): number | null {
  const value = cellValue(row, name);
  return value === null ? null : Number(value);
}

/** @returns a text such as "Bar chart of revenue by region, 4 rows. revenue: from 17000 (south) to 22958 (north)." */
export function describeChart({ kind, xAxis, series }: Chart, rows: readonly Row[]): string {
  const title = `${kind === "bar" ? "Bar" : "Line"} chart of ${series.map(({ name }) => name).join(", ")} by ${xAxis.name}, ${rows.length} rows.`;
  const ranges = series.map(({ name }) => {
    const points = rows.flatMap((row) => {
      const value = numberIn(row, name);
      return value === null ? [] : [{ value, at: cellText(cellValue(row, xAxis.name)) }];
    });
    const [first, ...rest] = points;
    if (first === undefined) return `${name}: no values.`;
    const min = rest.reduce((a, b) => (b.value < a.value ? b : a), first);
    const max = rest.reduce((a, b) => (b.value > a.value ? b : a), first);
    return `${name}: from ${min.value} (${min.at}) to ${max.value} (${max.at}).`;
  });
  return [title, ...ranges, "The table has all values."].join(" ");
}

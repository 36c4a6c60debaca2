/** Generated from src/web/messages/en/values.json by `npm run generate`. Edit that file instead. */
import { formatNumber, pluralForm } from "../../format.ts";

export const chartTitle = ({ kind, series, xAxis, count }: { kind: "bar" | "line"; series: string | number; xAxis: string | number; count: string | number }): string =>
  `${(kind === "bar" ? "Bar chart" : "Line chart")} of ${series} by ${xAxis}, ${count} rows.`;
export const noValues = ({ series }: { series: string | number }): string =>
  `${series}: no values.`;
export const rangeOf = ({ series, min, minAt, max, maxAt }: { series: string | number; min: string | number; minAt: string | number; max: string | number; maxAt: string | number }): string =>
  `${series}: from ${min} (${minAt}) to ${max} (${maxAt}).`;
export const tableHasAll = "The table has all values.";
export const noValue = "No value recorded.";
export const emptyString = "Empty string.";
export const emptyList = "Empty list.";
export const emptyObject = "Empty object.";
export const download = "Download";
export const csv = "CSV";
export const json = "JSON";
export const copyFailed = ({ label }: { label: string | number }): string =>
  `Couldn't copy ${label}`;
export const copyNeedsHttps = "The browser allows copying only over HTTPS. Download the value instead.";
export const copied = "Copied";
export const copyJson = "Copy as JSON";
export const longString = ({ beginning, count }: { beginning: string | number; count: number }): string =>
  `${beginning}… (${formatNumber(count)} characters)`;
export const expand = "Expand";
export const collapse = "Collapse";
export const asJson = ({ label }: { label: string | number }): string =>
  `${label} as JSON`;
export const rightAxis = ({ label }: { label: string | number }): string =>
  `${label} (right axis)`;
export const rowsOf = ({ label }: { label: string | number }): string =>
  `Rows of ${label}`;
export const firstColumns = ({ shown, total }: { shown: string | number; total: string | number }): string =>
  `First ${shown} of ${total} columns. JSON and the download contain all of them.`;
export const rowRange = ({ first, last }: { first: number; last: number }): string =>
  `Rows ${formatNumber(first)} to ${formatNumber(last)}`;
export const page = ({ page }: { page: string | number }): string =>
  `Page ${page}`;
export const pageControl = ({ control }: { control: "first" | "last" | "next" | "previous" }): string =>
  (control === "first" ? "first page" : control === "previous" ? "previous page" : control === "next" ? "next page" : "last page");
export const emptyCell = "empty";
export const longCell = ({ count }: { count: number }): string =>
  `${formatNumber(count)} characters; JSON has all of them`;
export const part = ({ part, parts, count }: { part: string | number; parts: string | number; count: number }): string =>
  `Part ${part} of ${parts} · ${formatNumber(count)} characters`;
export const partNumber = ({ part }: { part: string | number }): string =>
  `Part ${part}`;
export const partControl = ({ control }: { control: "first" | "last" | "next" | "previous" }): string =>
  (control === "first" ? "first part" : control === "previous" ? "previous part" : control === "next" ? "next part" : "last part");
export const preview = "Preview";
export const firstCharacters = ({ shown, total, size }: { shown: number; total: number; size: string | number }): string =>
  `The first ${formatNumber(shown)} of ${formatNumber(total)} characters. Full value: ${size}.`;
export const firstItems = ({ lists, size }: { lists: string | number; size: string | number }): string =>
  `The first items of ${lists}. Full value: ${size}.`;
export const loadFull = "Load full value";
export const loadingSize = ({ size }: { size: string | number }): string =>
  `Loading ${size}…`;
export const wholeList = ({ count }: { count: number }): string =>
  `the list (${formatNumber(count)})`;
export const table = "Table";
export const chart = "Chart";
export const text = "Text";
export const viewsOf = ({ label }: { label: string | number }): string =>
  `Views of ${label}`;
export const rowCount = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} row` : `${formatNumber(count)} rows`);
export const firstRows = ({ count }: { count: number }): string =>
  `${(pluralForm(count) === "one" ? `First ${formatNumber(count)} row` : `First ${formatNumber(count)} rows`)}. The query returned more than the limit of the step.`;
export const rowsChanged = ({ count }: { count: number }): string =>
  `${(pluralForm(count) === "one" ? `${formatNumber(count)} row changed` : `${formatNumber(count)} rows changed`)}.`;
export const noRows = "No rows.";
export const noRowsOf = ({ columns }: { columns: string | number }): string =>
  `No rows. Columns: ${columns}.`;

/** Groups of runs as rows of a table. */
import type { RunStatus } from "../../../schemas/run.ts";
import type { RunGroup } from "../../../schemas/run-groups.ts";
import { parseRows, type Row, type Rows } from "../values/rows.ts";
import { groupValue } from "./group-fields.ts";

/** In the order in which tables and charts show them. */
const SHOWN_STATUSES: readonly RunStatus[] = [
  "succeeded",
  "failed",
  "running",
  "waiting",
  "queued",
  "cancelled",
];

const isEnd = (status: RunStatus): boolean => status === "succeeded" || status === "failed";

/** The statuses of these groups, and the two with which most runs end. */
export const statusesIn = (groups: readonly RunGroup[]): RunStatus[] =>
  SHOWN_STATUSES.filter(
    (status) => isEnd(status) || groups.some(({ statuses }) => (statuses[status] ?? 0) > 0),
  );

/** What is shown of a measure. */
export const MEASURE_PARTS = ["min", "max", "mean", "sum"] as const;
export type MeasurePart = (typeof MEASURE_PARTS)[number];

/** The columns with the ids of runs, which a table has as links instead. */
const ID_COLUMNS: ReadonlySet<string> = new Set(["first_run", "last_run"]);

/**
 * One row for each group. A column of what they are grouped by has no value where the runs have none.
 * @param groupBy the fields and expressions by which they are grouped
 * @param measures the expressions of which they have numbers
 */
export function groupRows(
  groups: readonly RunGroup[],
  groupBy: readonly string[],
  measures: readonly string[],
): Rows {
  const statuses = statusesIn(groups);
  const numbers = ["runs", ...statuses, "median_ms", "p95_ms", ...measures.flatMap(measureColumns)];
  return parseRows({
    rows: groups.map((group) => groupRow(group, statuses)),
    columns: [
      ...groupBy.map((name) => ({ name })),
      ...numbers.map((name) => ({ name, type: "number" })),
      ...["first", "last", ...ID_COLUMNS].map((name) => ({ name })),
    ],
  })!;
}

const measureColumn = (name: string, part: MeasurePart): string => `${name} ${part}`;
const measureColumns = (name: string): string[] => MEASURE_PARTS.map((part) => measureColumn(name, part));

function groupRow(group: RunGroup, statuses: readonly RunStatus[]): Row {
  const { by, runs, first, last, duration_ms: duration, measures = {} } = group;
  return Object.fromEntries([
    ...Object.entries(by).map(([name, value]) => [name, groupValue(value)]),
    ["runs", runs],
    ...statuses.map((status) => [status, group.statuses[status] ?? 0]),
    ["median_ms", duration?.median ?? null],
    ["p95_ms", duration?.p95 ?? null],
    ...Object.entries(measures).flatMap(([name, measure]) =>
      MEASURE_PARTS.map((part) => [measureColumn(name, part), measure[part]]),
    ),
    ["first", first.created_at],
    ["last", last.created_at],
    ["first_run", first.run_id],
    ["last_run", last.run_id],
  ]) as Row;
}

/** The rows without the ids of runs. */
export const withoutIds = (rows: Rows): Rows => ({
  ...rows,
  columns: rows.columns.filter(({ name }) => !ID_COLUMNS.has(name)),
});

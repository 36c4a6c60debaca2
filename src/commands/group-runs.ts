/** `millrace runs group`: counts runs in groups. */
import { RunStatus } from "../../schemas/run.ts";
import type { RunGroup, RunGroups } from "../../schemas/run-groups.ts";
import { groupRuns } from "../../tools/runs/group-runs.ts";
import { alignColumns } from "./columns.ts";
import { type Io, paint } from "./io.ts";
import { withOperator } from "./operator.ts";
import { namingOptions } from "./option-issues.ts";
import { plural } from "./plural.ts";
import { definedOnly, FILTER_OPTIONS, filterInput, type RunFilterOptions } from "./run-filter.ts";
import { cellOf } from "./runs.ts";

export interface GroupRunsOptions extends RunFilterOptions {
  by?: string[];
  where?: string;
  measure?: string[];
  timezone?: string;
  limit?: number;
  json?: boolean;
}

const OPTIONS = {
  ...FILTER_OPTIONS,
  group_by: "--by",
  where: "--where",
  measures: "--measure",
  timezone: "--timezone",
};

/** Prints the groups as a table: what their runs have in common, and what was counted of them. */
export async function showGroups(
  io: Io,
  { by = [], where, measure = [], timezone, limit, json, ...filter }: GroupRunsOptions,
): Promise<void> {
  const input = {
    ...filterInput(filter),
    ...definedOnly({ where, timezone, max_groups: limit }),
    group_by: by,
    measures: measure,
  };
  const answer = await namingOptions(OPTIONS, () =>
    withOperator(io, { requiresStateFor: "count runs of" }, ({ call }) => call<RunGroups>(groupRuns, input)),
  );
  if (json) return io.out(`${JSON.stringify(answer, null, 2)}\n`);
  const { groups, without_value: without = [], next } = answer;
  const { bold, dim } = paint(io);
  if (groups.length === 0) io.out("There are no such runs.\n");
  else {
    const columns = columnsOf(groups, [...new Set(by)], [...new Set(measure)]);
    const line = alignColumns([
      columns.map(({ head }) => head),
      ...groups.map((group) => row(columns, group)),
    ]);
    io.out(`${bold(line(columns.map(({ head }) => head)))}\n`);
    for (const group of groups) io.out(`${line(row(columns, group))}\n`);
  }
  for (const { expression, runs, run_id: id, message } of without)
    io.out(dim(`${expression} has no value in ${plural(runs, "run")}, such as ${id}: ${message}\n`));
  if (next !== undefined) io.out(dim(`${next}\n`));
}

interface Column {
  head: string;
  cell: (group: RunGroup) => string;
}

const row = (columns: readonly Column[], group: RunGroup): string[] => columns.map(({ cell }) => cell(group));

const shortTime = (at: string): string => at.slice(0, 16).replace("T", " ");

function columnsOf(
  groups: readonly RunGroup[],
  names: readonly string[],
  measures: readonly string[],
): Column[] {
  const statuses = RunStatus.options.filter((status) => groups.some((group) => status in group.statuses));
  return [
    ...names.map((name): Column => ({ head: name, cell: ({ by }) => cellOf(by[name]) })),
    { head: "RUNS", cell: ({ runs }) => String(runs) },
    ...statuses.map((status): Column => ({
      head: status.toUpperCase(),
      cell: ({ statuses: counts }) => String(counts[status] ?? 0),
    })),
    { head: "FIRST (UTC)", cell: ({ first }) => `${shortTime(first.created_at)} ${first.run_id}` },
    { head: "LAST (UTC)", cell: ({ last }) => `${shortTime(last.created_at)} ${last.run_id}` },
    { head: "MEDIAN MS", cell: ({ duration_ms: duration }) => String(duration?.median ?? "") },
    ...measures.flatMap((name) =>
      (["min", "max", "sum", "mean"] as const).map((part): Column => ({
        head: `${name} ${part}`,
        cell: ({ measures: counted }) => String(counted?.[name]?.[part] ?? ""),
      })),
    ),
  ];
}

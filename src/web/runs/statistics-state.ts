/** What the statistics of runs show: parsed from the URL, and converted to the parameters of GET /runs/groups. */
import { readFilters, type RunFilters, toQuery, writeFilters } from "./filters.ts";
import { browserTimeZone, type GroupsQuery, MAX_SHOWN_GROUPS } from "./group-queries.ts";
import { lastDays } from "./last-days.ts";

export interface StatisticsState {
  filters: RunFilters;
  /** Fields of runs and expressions. */
  groupBy: readonly string[];
  /** An expression; empty without a condition. */
  where: string;
  /** Expressions. */
  measures: readonly string[];
  /** Whether trials are counted too. */
  trials: boolean;
  /** What the chart shows, such as `mean:output.total`; empty for the numbers of runs. */
  chart: string;
}

/**
 * Parses the URL. Without a `group` it is a link to the page alone, or with filters: it shows days, the last 14 of them unless the
 * filters name a time.
 */
export function readState(params: URLSearchParams, now: number): StatisticsState {
  // Words are searched in lists only.
  const { search: _search, where = "", ...filters } = readFilters(params);
  const isComplete = params.has("group");
  const hasTime = filters.since !== undefined || filters.until !== undefined;
  return {
    filters: isComplete || hasTime ? filters : { ...filters, since: lastDays(now).days[0]! },
    groupBy: isComplete ? textsIn(params, "group") : ["day"],
    where: where.trim(),
    measures: textsIn(params, "number"),
    trials: params.get("trials") === "true",
    chart: params.get("chart") ?? "",
  };
}

const textsIn = (params: URLSearchParams, name: string): string[] => [
  ...new Set(
    params
      .getAll(name)
      .map((text) => text.trim())
      .filter((text) => text !== ""),
  ),
];

/** The URL parameters. An expression may contain a comma, so each has a parameter of its own. */
export function writeState({
  filters,
  groupBy,
  where = "",
  measures = [],
  trials = false,
  chart = "",
}: Pick<StatisticsState, "filters" | "groupBy"> & Partial<StatisticsState>): URLSearchParams {
  const params = writeFilters(filters);
  // An empty one says that nothing is grouped.
  for (const name of groupBy.length === 0 ? [""] : groupBy) params.append("group", name);
  if (where !== "") params.set("where", where);
  for (const name of measures) params.append("number", name);
  if (trials) params.set("trials", "true");
  if (chart !== "") params.set("chart", chart);
  return params;
}

/** The address of the page with these choices. */
export const statisticsPath = (state: Parameters<typeof writeState>[0]): string =>
  `/runs/statistics?${writeState(state).toString()}`;

export const toGroupsQuery = (
  { filters, groupBy, where, measures, trials }: StatisticsState,
  project: { project?: string },
): GroupsQuery => ({
  ...project,
  ...toQuery(filters),
  ...(!trials && { trial: false }),
  ...(where !== "" && { where }),
  ...(groupBy.length > 0 && { group_by: [...groupBy] }),
  ...(measures.length > 0 && { measures: [...measures] }),
  timezone: browserTimeZone(),
  max_groups: MAX_SHOWN_GROUPS,
});

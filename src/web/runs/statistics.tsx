/** Runs in groups: by day, version, error or any value, with durations and numbers. All choices are part of the URL. */
import { Button, Stack } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";
import { isShownAt } from "../forms/issues.ts";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { EmptyState, ErrorAlert, LoadingSkeleton, Page } from "../ui/page.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { isDay, isFiltered, type RunFilters, writeFilters } from "./filters.ts";
import { type GroupsQuery, readGroups } from "./group-queries.ts";
import { lastDays } from "./last-days.ts";
import { StatisticsFields } from "./statistics-fields.tsx";
import { StatisticsNotices } from "./statistics-notices.tsx";
import { StatisticsResult } from "./statistics-result.tsx";
import { readState, type StatisticsState, toGroupsQuery, writeState } from "./statistics-state.ts";

export default function RunStatisticsPage() {
  const [params, setParams] = useSearchParams();
  const [now] = useState(Date.now);
  const state = readState(params, now);
  const query = toGroupsQuery(state, useProjectFilter());
  const counted = useCounted(query);
  const change = (part: Partial<StatisticsState>): void =>
    // Otherwise a change that follows at once would not build on this one, since the router renders later.
    setParams(writeState({ ...state, ...part }), { replace: true, flushSync: true });
  return (
    <Page
      title="Run statistics"
      about="Runs counted by day, version, error or any value"
      actions={
        <Button
          component={Link}
          to={`/runs?${writeFilters(listFilters(state)).toString()}`}
          variant="default"
        >
          List of runs
        </Button>
      }
    >
      <FilterBar filters={state.filters} onChange={(filters) => change({ filters })} />
      <StatisticsFields
        state={state}
        onChange={change}
        error={counted.error}
        readAs={counted.isPlaceholderData ? undefined : counted.data?.result.where}
      />
      <Counted counted={counted} state={state} today={lastDays(now).days.at(-1)!} onChange={change} />
    </Page>
  );
}

/** The filters of the list of the runs that are counted. */
const listFilters = ({ filters, where }: StatisticsState): RunFilters => ({
  ...filters,
  ...(where !== "" && { where }),
});

/** The groups with the query that they answer: those of the previous one are shown until the next ones are loaded. */
const useCounted = (query: GroupsQuery) =>
  useQuery({
    queryKey: ["runs", "statistics", query],
    queryFn: async ({ signal }) => ({ query, result: await readGroups(query, signal) }),
    placeholderData: keepPreviousData,
  });

interface CountedProps {
  counted: ReturnType<typeof useCounted>;
  state: StatisticsState;
  today: string;
  onChange: (part: Partial<StatisticsState>) => void;
}

function Counted({ counted, state, today, onChange }: CountedProps) {
  const { data, error, isPlaceholderData: stale } = counted;
  if (error !== null && data === undefined)
    return isShownAt(error, ["where", "group_by", "measures"]) ? (
      <EmptyState title="Nothing was counted">Correct the field with the error.</EmptyState>
    ) : (
      <ErrorAlert error={error} retry={() => void counted.refetch()} />
    );
  if (data === undefined) return <LoadingSkeleton rows={8} />;
  const { query, result } = data;
  const { since, until } = state.filters;
  return (
    <Stack aria-busy={stale} opacity={stale ? 0.6 : 1}>
      <StatisticsNotices result={result} where={query.where} />
      {result.runs === 0 ? (
        <NoRuns state={state} onChange={onChange} />
      ) : (
        <StatisticsResult
          result={result}
          groupBy={query.group_by ?? NONE}
          measures={query.measures ?? NONE}
          from={since !== undefined && isDay(since) ? since : undefined}
          to={until === undefined ? today : isDay(until) ? until : undefined}
          choice={state.chart}
          onChoose={(chart) => onChange({ chart })}
        />
      )}
    </Stack>
  );
}

const NONE: readonly string[] = [];

function NoRuns({ state: { filters, where }, onChange }: Pick<CountedProps, "state" | "onChange">) {
  const canClear = isFiltered(filters) || where !== "";
  return (
    <EmptyState
      title="No matching runs"
      action={
        canClear && (
          <Button variant="default" onClick={() => onChange({ filters: { status: [] }, where: "" })}>
            Clear filters
          </Button>
        )
      }
    >
      Remove a filter or the condition, choose a longer time range, or count trials too.
    </EmptyState>
  );
}

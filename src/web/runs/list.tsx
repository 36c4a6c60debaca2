/** All runs, newest first. The filters are part of the URL. */
import { Button } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";
import { serverUrl } from "../app/base-path.ts";
import { send } from "../api/client.ts";
import { ChosenBulkAction } from "../bulk-actions/bulk-buttons.tsx";
import type { BulkChoice } from "../bulk-actions/choice.ts";
import { isShownAt } from "../forms/issues.ts";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { EmptyState, Page } from "../ui/page.tsx";
import { cursorPagination, cursorParam, formatTotal } from "../ui/pagination.ts";
import { Snippet } from "../ui/copy.tsx";
import { isFiltered, isSearch, toListQuery, readFilters, type RunFilters, writeFilters } from "./filters.ts";
import { FilterBar } from "./filter-bar.tsx";
import { DownloadMenu } from "./download-menu.tsx";
import { SelectableRuns } from "./selectable-runs.tsx";
import { hasEnded } from "./live-updates.ts";

const PAGE_SIZE = 50;
/** Polling interval while a listed run is active, in milliseconds. */
const POLL_MS = 3_000;
/** The same for a long list, since polling loads all of its pages again. */
const LONG_LIST_POLL_MS = 15_000;
const MAX_SHORT_LIST_PAGES = 2;

export default function RunList() {
  const [params, setParams] = useSearchParams();
  const filters = readFilters(params);
  const project = useProjectFilter();
  const runs = useRuns(filters);
  // What the dialog shows stays the same while the list behind it is loaded again, or becomes empty.
  const [choice, setChoice] = useState<BulkChoice>();
  const first = runs.isPlaceholderData ? undefined : runs.data?.pages[0];
  return (
    <Page
      title="Runs"
      about="All runs, newest first"
      actions={
        <>
          <Button component={Link} to="/bulk-actions" variant="default">
            Bulk actions
          </Button>
          <Button
            component={Link}
            to={`/runs/statistics?${writeFilters(filters).toString()}`}
            variant="default"
          >
            Statistics
          </Button>
          <DownloadMenu
            query={{ ...toListQuery(filters), ...project }}
            total={formatTotal(first)}
            disabled={first === undefined || first.data.length === 0}
          />
        </>
      }
    >
      <FilterBar
        filters={filters}
        onChange={(to) => setParams(writeFilters(to), { replace: true })}
        isSearchable
        error={runs.error}
      />
      {isShownAt(runs.error, ["where"]) ? (
        <EmptyState title="Nothing was searched">Correct the condition.</EmptyState>
      ) : (
        <PagedList
          query={runs}
          isSearch={isSearch(filters)}
          empty={<NoRuns filtered={isFiltered(filters)} onClear={() => setParams({})} />}
        >
          {(items) => (
            <SelectableRuns
              // Another filter begins without a selection.
              key={JSON.stringify([filters, project])}
              runs={items}
              stale={runs.isPlaceholderData}
              filters={filters}
              project={project}
              total={first === undefined || first.isTotalCapped ? null : first.total}
              onChoose={setChoice}
            />
          )}
        </PagedList>
      )}
      <ChosenBulkAction choice={choice} onClose={() => setChoice(undefined)} />
    </Page>
  );
}

/** Polls while a listed run is active and the page is visible. */
function useRuns(filters: RunFilters) {
  const project = useProjectFilter();
  return useInfiniteQuery({
    queryKey: ["runs", "list", filters, project],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/runs", {
        query: { ...toListQuery(filters), ...project, limit: PAGE_SIZE, ...cursorParam(pageParam) },
        signal,
      }),
    ...cursorPagination,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => {
      if (data === undefined || data.pages.every((page) => page.data.every(hasEnded))) return false;
      // Each part of a search reads thousands of runs.
      if (isSearch(filters)) return data.pages.length === 1 ? LONG_LIST_POLL_MS : false;
      return data.pages.length <= MAX_SHORT_LIST_PAGES ? POLL_MS : LONG_LIST_POLL_MS;
    },
  });
}

function NoRuns({ filtered, onClear }: { filtered: boolean; onClear: () => void }) {
  if (filtered) {
    return (
      <EmptyState
        title="No matching runs"
        action={
          <Button variant="default" onClick={onClear}>
            Clear filters
          </Button>
        }
      >
        Remove a filter, or choose a longer time range.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title="No runs yet"
      action={
        <Button component={Link} to="/workflows">
          Choose a workflow
        </Button>
      }
    >
      A run executes one version of a workflow. You can start one here, on a schedule, from an agent with the
      tool run_workflow, or from a script with one request:
      <Snippet label="curl command that starts a run" text={CURL} />
    </EmptyState>
  );
}

const CURL = `curl -X POST ${serverUrl()}/workflows/<workflow>/runs \\
  -H "X-API-Key: <key>" -H "Content-Type: application/json" -d '{"wait": 30}'`;

/** All runs, newest first. The filters are part of the URL. */
import { Button } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { Link, useSearchParams } from "react-router";
import * as texts from "#texts/runs";
import type { RunSummary } from "../../../schemas/run.ts";
import { type ApiResponse, send } from "../api/client.ts";
import { SavedViews } from "../bookmarks/saved-views.tsx";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { EmptyState, Page } from "../ui/page.tsx";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";
import { Snippet } from "../ui/copy.tsx";
import type { BulkAction } from "./bulk.ts";
import { BulkBar } from "./bulk-bar.tsx";
import { isFiltered, toQuery, readFilters, type RunFilters, writeFilters } from "./filters.ts";
import { FilterBar } from "./filter-bar.tsx";
import { RunRows } from "./run-rows.tsx";
import { hasEnded } from "./live-updates.ts";
import { useSelection } from "./use-selection.ts";

const BulkProgress = lazy(() => import("./bulk-progress.tsx"));

const PAGE_SIZE = 50;
/** Maximum page size of the API. */
const EXPORT_PAGE_SIZE = 200;
/** Polling interval while a listed run is active, in milliseconds. */
const POLL_MS = 3_000;
/** The same for a long list, since polling loads all of its pages again. */
const LONG_LIST_POLL_MS = 15_000;
const MAX_SHORT_LIST_PAGES = 2;

export default function RunList() {
  const [params, setParams] = useSearchParams();
  const filters = readFilters(params);
  const { runs, loadPage } = useRuns(filters);
  const [bulk, setBulk] = useState<{ action: BulkAction; runs: readonly RunSummary[] }>();
  const isSearch = filters.search !== undefined;
  return (
    <Page title={texts.runs} about={texts.allRuns} actions={<SavedViews page="runs" />}>
      <FilterBar filters={filters} onChange={(to) => setParams(writeFilters(to), { replace: true })} />
      <PagedList
        query={runs}
        empty={
          isSearch && runs.hasNextPage ? (
            <NothingYet runs={runs} />
          ) : (
            <NoRuns filtered={isFiltered(filters)} onClear={() => setParams({})} />
          )
        }
        {...(isSearch && { footer: searchFooter(runs.hasNextPage), more: texts.searchOlder })}
      >
        {(items) => (
          <SelectableRuns
            key={JSON.stringify(filters)}
            runs={items}
            stale={runs.isPlaceholderData}
            loadPage={loadPage}
            onStart={(action, chosen) => setBulk({ action, runs: chosen })}
          />
        )}
      </PagedList>
      {/* Outside of the list, which may become empty meanwhile. */}
      {bulk !== undefined && (
        <Suspense fallback={null}>
          <BulkProgress {...bulk} onClose={() => setBulk(undefined)} />
        </Suspense>
      )}
    </Page>
  );
}

interface SelectableRunsProps {
  runs: readonly RunSummary[];
  stale: boolean;
  loadPage: LoadPage;
  onStart: (action: BulkAction, runs: readonly RunSummary[]) => void;
}

function SelectableRuns({ runs, stale, loadPage, onStart }: SelectableRunsProps) {
  const selection = useSelection(runs);
  return (
    <>
      <BulkBar
        selected={selection.selected}
        loadPage={loadPage}
        onClear={selection.clear}
        onStart={onStart}
      />
      <RunRows runs={runs} stale={stale} selection={selection} />
    </>
  );
}

/** A page of a search reads a limited number of runs, so it may end without a match although older runs have one. */
function NothingYet({ runs }: { runs: ReturnType<typeof useRuns>["runs"] }) {
  return (
    <EmptyState
      title={texts.noMatchesYet}
      action={
        <Button loading={runs.isFetchingNextPage} onClick={() => void runs.fetchNextPage()}>
          {texts.searchOlder}
        </Button>
      }
    >
      {texts.noMatchesYetHelp}
    </EmptyState>
  );
}

const searchFooter =
  (hasMore: boolean) =>
  (shown: number): string =>
    hasMore ? texts.foundSoFar({ shown }) : texts.found({ shown });

type LoadPage = (cursor: string) => Promise<ApiResponse<RunSummary[]>>;

/** Polls while a listed run is active and the page is visible; a search is not repeated by itself. */
function useRuns(filters: RunFilters) {
  const project = useProjectFilter();
  const load = (cursor: string, limit: number, signal?: AbortSignal) => {
    const { workflow_id, ...query } = toQuery(filters);
    const page = { limit, ...cursorParam(cursor) };
    const { backfill } = filters;
    return workflow_id !== undefined && backfill !== undefined
      ? send("get", "/workflows/{workflow_id}/runs", {
          path: { workflow_id },
          query: { ...query, backfill, ...page },
          ...(signal && { signal }),
        })
      : send("get", "/runs", {
          query: { ...toQuery(filters), ...project, ...page },
          ...(signal && { signal }),
        });
  };
  const runs = useInfiniteQuery({
    queryKey: ["runs", "list", filters, project],
    queryFn: ({ pageParam, signal }) => load(pageParam, PAGE_SIZE, signal),
    ...cursorPagination,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => {
      if (filters.search !== undefined) return false;
      if (data === undefined || data.pages.every((page) => page.data.every(hasEnded))) return false;
      return data.pages.length <= MAX_SHORT_LIST_PAGES ? POLL_MS : LONG_LIST_POLL_MS;
    },
  });
  return { runs, loadPage: (cursor: string) => load(cursor, EXPORT_PAGE_SIZE) };
}

function NoRuns({ filtered, onClear }: { filtered: boolean; onClear: () => void }) {
  if (filtered) {
    return (
      <EmptyState
        title={texts.noMatchingRuns}
        action={
          <Button variant="default" onClick={onClear}>
            {texts.clearFilters}
          </Button>
        }
      >
        {texts.noMatchingRunsHelp}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title={texts.noRuns}
      action={
        <Button component={Link} to="/workflows">
          {texts.chooseWorkflow}
        </Button>
      }
    >
      {texts.noRunsHelp}
      <Snippet label={texts.curlCommand} text={CURL} />
    </EmptyState>
  );
}

const CURL = `curl -X POST ${location.origin}/workflows/<workflow>/runs \\
  -H "X-API-Key: <key>" -H "Content-Type: application/json" -d '{"wait": 30}'`;

/** Every run, newest first: what ran, how it went, why it failed. The filters stand in the address. */
import { Button } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { send } from "../api/client.ts";
import { PagedList } from "../ui/paged-list.tsx";
import { EmptyState, Page } from "../ui/page.tsx";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";
import { Snippet } from "../ui/copy.tsx";
import { isFiltered, toQuery, readFilters, type RunFilters, writeFilters } from "./filters.ts";
import { FilterBar } from "./filter-bar.tsx";
import { RunRows } from "./run-rows.tsx";
import { hasEnded } from "./live-updates.ts";

const AT_ONCE = 50;
const SOON_MS = 3_000;
/** Where somebody has gone far down, all of it is asked for again: less often. */
const LATER_MS = 15_000;
const FEW_PAGES = 2;

export default function RunList() {
  const [params, setParams] = useSearchParams();
  const filters = readFilters(params);
  const runs = useRuns(filters);
  return (
    <Page title="Runs" about="What ran, how it went, and why it failed.">
      <FilterBar filters={filters} onChange={(to) => setParams(writeFilters(to), { replace: true })} />
      <PagedList query={runs} empty={<Nothing filtered={isFiltered(filters)} onAll={() => setParams({})} />}>
        {(shown) => <RunRows runs={shown} stale={runs.isPlaceholderData} />}
      </PagedList>
    </Page>
  );
}

/** While one of them goes on they are asked for again, as long as somebody looks. */
function useRuns(filters: RunFilters) {
  return useInfiniteQuery({
    queryKey: ["runs", "list", filters],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/runs", {
        query: { ...toQuery(filters), limit: AT_ONCE, ...cursorParam(pageParam) },
        signal,
      }),
    ...cursorPagination,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => {
      if (data === undefined || data.pages.every((page) => page.data.every(hasEnded))) return false;
      return data.pages.length <= FEW_PAGES ? SOON_MS : LATER_MS;
    },
  });
}

function Nothing({ filtered, onAll }: { filtered: boolean; onAll: () => void }) {
  if (filtered) {
    return (
      <EmptyState
        title="No run fits these filters"
        action={
          <Button variant="default" onClick={onAll}>
            Show all runs
          </Button>
        }
      >
        Take one away, or look at a longer time.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title="Nothing has run yet"
      action={
        <Button component={Link} to="/workflows">
          Choose a workflow to run
        </Button>
      }
    >
      A run carries out one version of a workflow. An agent starts one with the tool run_workflow, a schedule
      by itself, you here, and a script with one request:
      <Snippet label="curl command that starts a run" text={CURL} />
    </EmptyState>
  );
}

const CURL = `curl -X POST ${location.origin}/workflows/<workflow>/runs \\
  -H "X-API-Key: <key>" -H "Content-Type: application/json" -d '{"wait": 30}'`;

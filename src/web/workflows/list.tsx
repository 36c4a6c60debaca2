/** The list of workflows, with search and filters. */
import { Button, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useSearchParams } from "react-router";
import { useHasScope } from "../app/session.tsx";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { distinctTags } from "../ui/filter-options.ts";
import { EmptyState, ErrorAlert, Page, LoadingSkeleton } from "../ui/page.tsx";
import { flattenPages, formatTotal } from "../ui/pagination.ts";
import { parseFilters, isFiltered } from "./filters.ts";
import { ListFilters } from "./list-filters.tsx";
import { ListRows } from "./list-rows.tsx";
import { NoWorkflows } from "./no-workflows.tsx";
import { workflowsQuery } from "./queries.ts";

export default function WorkflowList() {
  const [parameters, setParameters] = useSearchParams();
  const filters = parseFilters(parameters);
  const project = useProjectFilter();
  const query = useInfiniteQuery(workflowsQuery(filters, project));
  const may = useHasScope();
  // A workflow that was renamed or changed between two pages may appear on both.
  const workflows = useMemo(
    () => [...new Map(flattenPages(query.data)?.map((workflow) => [workflow.id, workflow])).values()],
    [query.data],
  );
  const first = query.data?.pages[0];
  // -1 stands for an unknown size, so that a screen reader reads no wrong one.
  const size = first?.isTotalCapped === true ? -1 : (first?.total ?? workflows.length);
  const isEmpty = query.data !== undefined && workflows.length === 0;
  return (
    <Page
      title="Workflows"
      actions={
        may("write") && (
          <Button component={Link} to="/workflows/new" leftSection={<IconPlus size={16} aria-hidden />}>
            New workflow
          </Button>
        )
      }
    >
      {isEmpty && !isFiltered(filters) ? (
        <NoWorkflows mayWrite={may("write")} />
      ) : (
        <>
          <ListFilters filters={filters} tags={distinctTags(workflows.flatMap(({ tags }) => tags))} />
          <Text size="sm" c="dimmed" role="status">
            {first === undefined ? "" : countLabel(first.total, formatTotal(first))}
          </Text>
          {query.data === undefined && !query.isError && <LoadingSkeleton rows={8} />}
          {query.isError && <ErrorAlert error={query.error} retry={() => void query.refetch()} />}
          {isEmpty && (
            <EmptyState
              title="No matching workflows"
              action={
                <Button variant="default" onClick={() => setParameters({})}>
                  Clear filters
                </Button>
              }
            >
              The search covers names, IDs, descriptions and tags. To see archived workflows, choose the
              status Archived.
            </EmptyState>
          )}
          {workflows.length > 0 && (
            <ListRows
              workflows={workflows}
              size={size}
              more={query.hasNextPage && !query.isFetching && !query.isError}
              onMore={() => void query.fetchNextPage()}
            />
          )}
        </>
      )}
    </Page>
  );
}

const countLabel = (total: number | null, text: string | null): string =>
  text === null ? "" : `${text} ${total === 1 ? "workflow" : "workflows"}`;

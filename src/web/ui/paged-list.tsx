/** A list that loads page by page: its loading, error and empty states, and a button to load more. */
import { Button, Group, Text } from "@mantine/core";
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ApiResponse } from "../api/client.ts";
import { ErrorAlert, LoadingSkeleton } from "./page.tsx";
import { flattenPages, formatTotal } from "./pagination.ts";

interface PagedListProps<T> {
  query: UseInfiniteQueryResult<InfiniteData<ApiResponse<T[]>>>;
  empty: ReactNode;
  /** Whether pages are parts of a search: they may have few items, or none, and their number is not known. */
  isSearch?: boolean;
  children: (items: readonly T[]) => ReactNode;
}

export function PagedList<T>({ query, empty, isSearch = false, children }: PagedListProps<T>) {
  const items = flattenPages(query.data);
  if (items === undefined)
    return query.isError ? (
      <ErrorAlert error={query.error} retry={() => void query.refetch()} />
    ) : (
      <LoadingSkeleton />
    );
  const hasMore = query.hasNextPage;
  if (items.length === 0 && !(isSearch && hasMore)) return <>{empty}</>;
  return (
    <>
      {items.length > 0 && children(items)}
      <Group justify="space-between">
        <Text size="sm" c="dimmed" aria-live="polite">
          {isSearch
            ? foundText(items.length, hasMore)
            : shownText(items.length, formatTotal(query.data?.pages[0]))}
        </Text>
        {hasMore && (
          <Button
            variant="default"
            loading={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            {isSearch ? "Search older ones" : "Load more"}
          </Button>
        )}
      </Group>
    </>
  );
}

const shownText = (count: number, total: string | null): string =>
  total === null ? `${count} shown` : `${count} of ${total}`;

const foundText = (count: number, hasMore: boolean): string =>
  hasMore ? `${count} found so far: older ones were not searched yet.` : `${count} found`;

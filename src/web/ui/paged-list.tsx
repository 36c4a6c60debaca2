/** A list that loads page by page: its loading, error and empty states, and a button to load more. */
import { Button, Group, Text } from "@mantine/core";
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import * as texts from "#texts/ui";
import type { ApiResponse } from "../api/client.ts";
import { ErrorAlert, LoadingSkeleton } from "./page.tsx";
import { flattenPages, formatTotal } from "./pagination.ts";

interface PagedListProps<T> {
  query: UseInfiniteQueryResult<InfiniteData<ApiResponse<T[]>>>;
  empty: ReactNode;
  /** Says how many items are shown; left out, of how many. */
  footer?: (shown: number) => string;
  /** Label of the button that loads the next page. */
  more?: string;
  children: (items: readonly T[]) => ReactNode;
}

export function PagedList<T>({ query, empty, footer, more = texts.loadMore, children }: PagedListProps<T>) {
  const items = flattenPages(query.data);
  if (items === undefined)
    return query.isError ? (
      <ErrorAlert error={query.error} retry={() => void query.refetch()} />
    ) : (
      <LoadingSkeleton />
    );
  if (items.length === 0) return <>{empty}</>;
  const total = formatTotal(query.data?.pages[0]);
  return (
    <>
      {children(items)}
      <Group justify="space-between">
        <Text size="sm" c="dimmed" aria-live="polite">
          {footer !== undefined
            ? footer(items.length)
            : total === null
              ? texts.shown({ shown: items.length })
              : texts.shownOf({ shown: items.length, total })}
        </Text>
        {query.hasNextPage && (
          <Button
            variant="default"
            loading={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            {more}
          </Button>
        )}
      </Group>
    </>
  );
}

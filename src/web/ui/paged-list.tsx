/** A list that comes page by page: its four states, and the button for more. */
import { Button, Group, Text } from "@mantine/core";
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ApiResponse } from "../api/client.ts";
import { ErrorAlert, LoadingSkeleton } from "./page.tsx";
import { flattenPages, totalCount } from "./pagination.ts";

interface ListProps<T> {
  query: UseInfiniteQueryResult<InfiniteData<ApiResponse<T[]>>>;
  empty: ReactNode;
  children: (items: readonly T[]) => ReactNode;
}

export function PagedList<T>({ query, empty, children }: ListProps<T>) {
  const items = flattenPages(query.data);
  if (items === undefined)
    return query.isError ? (
      <ErrorAlert error={query.error} retry={() => void query.refetch()} />
    ) : (
      <LoadingSkeleton />
    );
  if (items.length === 0) return <>{empty}</>;
  const total = totalCount(query.data);
  return (
    <>
      {children(items)}
      <Group justify="space-between">
        <Text size="sm" c="dimmed" aria-live="polite">
          {total === null ? `${items.length} shown` : `${items.length} of ${total}`}
        </Text>
        {query.hasNextPage && (
          <Button
            variant="default"
            loading={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            More
          </Button>
        )}
      </Group>
    </>
  );
}

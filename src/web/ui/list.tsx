/** A list that comes page by page: its four states, and the button for more. */
import { Button, Group, Text } from "@mantine/core";
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Answered } from "../api/client.ts";
import { Failed, Waiting } from "./page.tsx";
import { itemsOf, totalOf } from "./pages.ts";

interface ListProps<T> {
  query: UseInfiniteQueryResult<InfiniteData<Answered<T[]>>>;
  empty: ReactNode;
  children: (items: readonly T[]) => ReactNode;
}

export function List<T>({ query, empty, children }: ListProps<T>) {
  const items = itemsOf(query.data);
  if (items === undefined)
    return query.isError ? <Failed error={query.error} retry={() => void query.refetch()} /> : <Waiting />;
  if (items.length === 0) return <>{empty}</>;
  const total = totalOf(query.data);
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

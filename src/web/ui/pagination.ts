/** Cursor pagination for lists that load page by page. */
import type { InfiniteData } from "@tanstack/react-query";
import type { ApiResponse } from "../api/client.ts";

/** Options that all paginated queries share. The cursor of the next page comes from the `Link` header. */
export const cursorPagination = {
  initialPageParam: "",
  getNextPageParam: ({ next }: { next: string | null }) => next,
};

/** @returns the query parameter of a page; none for the first page */
export const cursorParam = (pageParam: string): { cursor?: string } =>
  pageParam === "" ? {} : { cursor: pageParam };

export const flattenPages = <T>(data: InfiniteData<ApiResponse<T[]>> | undefined): T[] | undefined =>
  data?.pages.flatMap((page) => page.data);

export const totalCount = <T>(data: InfiniteData<ApiResponse<T[]>> | undefined): number | null =>
  data?.pages[0]?.total ?? null;

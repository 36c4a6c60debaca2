/** Lists that come page by page: what all of them do with what `send` answers. */
import type { InfiniteData } from "@tanstack/react-query";
import type { ApiResponse } from "../api/client.ts";

/** The options that every such query shares: the cursor of the next page is what the last one's Link says. */
export const cursorPagination = {
  initialPageParam: "",
  getNextPageParam: ({ next }: { next: string | null }) => next,
};

/** The query of a page: nothing for the first. */
export const cursorParam = (pageParam: string): { cursor?: string } =>
  pageParam === "" ? {} : { cursor: pageParam };

export const flattenPages = <T>(data: InfiniteData<ApiResponse<T[]>> | undefined): T[] | undefined =>
  data?.pages.flatMap((page) => page.data);

export const totalCount = <T>(data: InfiniteData<ApiResponse<T[]>> | undefined): number | null =>
  data?.pages[0]?.total ?? null;

/** Cursor pagination for lists that load page by page. */
import type { InfiniteData } from "@tanstack/react-query";
import type { ApiResponse } from "../api/client.ts";
import { formatNumber } from "../locale/locale.ts";

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

/** @returns the number of items of a list as text, such as `10,000+`; null if it is unknown */
export const formatTotal = (
  list: Pick<ApiResponse<unknown>, "total" | "isTotalCapped"> | undefined,
): string | null =>
  list === undefined || list.total === null
    ? null
    : `${formatNumber(list.total)}${list.isTotalCapped ? "+" : ""}`;

/** The queries of bulk actions. Their keys begin with "bulk-actions". */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { BulkAction, BulkActionKind, BulkActionResult } from "../../../schemas/bulk-action.ts";
import { ApiError, send } from "../api/client.ts";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";
import type { ChosenRuns } from "./choice.ts";
import { unfinishedRetries } from "./texts.ts";

/** Polling interval while a bulk action is running, in milliseconds. */
const ACTIVE_POLL_MS = 2_000;
/** The same for its list of runs, which is longer. */
const RUNS_POLL_MS = 5_000;
const IDLE_POLL_MS = 30_000;
const LIST_PAGE_SIZE = 20;
/** Number of runs of a page of the table. */
const RUNS_PAGE_SIZE = 50;

const KEY = ["bulk-actions"] as const;
export const bulkActionListKey = [...KEY, "list"] as const;
export const bulkActionKey = (id: string) => [...KEY, "one", id] as const;

/** Whether anything of it changes: a cancelled one may have retries that go on. */
export const isActive = (bulkAction: Pick<BulkAction, "status" | "retries">): boolean =>
  bulkAction.status === "running" || unfinishedRetries(bulkAction) > 0;

/** What is asked for, as far as it changes what happens. */
export interface PreviewRequest extends ChosenRuns {
  action: BulkActionKind;
  version?: number;
}

/** What a bulk action would do. It is not loaded again by itself, because a person reads it. */
export const previewQuery = (request: PreviewRequest) =>
  queryOptions({
    queryKey: [...KEY, "preview", request],
    queryFn: async ({ signal }): Promise<BulkAction> =>
      (await send("post", "/bulk-actions", { body: request, signal })).data,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 0,
  });

/** One bulk action; null if none has this id. */
export const bulkActionQuery = (id: string) =>
  queryOptions({
    queryKey: bulkActionKey(id),
    queryFn: async ({ signal }): Promise<BulkAction | null> => {
      try {
        const path = { bulk_action_id: id };
        return (await send("get", "/bulk-actions/{bulk_action_id}", { path, query: {}, signal })).data;
      } catch (error) {
        if (error instanceof ApiError && error.code === "bulk_action_not_found") return null;
        throw error;
      }
    },
    refetchInterval: ({ state: { data } }) =>
      data !== null && data !== undefined && isActive(data) && ACTIVE_POLL_MS,
  });

/** All bulk actions, newest first. */
export const bulkActionsQuery = (project: { project?: string }) =>
  infiniteQueryOptions({
    queryKey: [...bulkActionListKey, project],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/bulk-actions", {
        query: { ...project, limit: LIST_PAGE_SIZE, ...cursorParam(pageParam) },
        signal,
      }),
    ...cursorPagination,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some(isActive)) === true ? ACTIVE_POLL_MS : IDLE_POLL_MS,
  });

/** The runs of a bulk action with one result, in their order. @param result undefined for all */
export const bulkActionRunsQuery = (
  id: string,
  bulkAction: Pick<BulkAction, "status" | "retries">,
  result: BulkActionResult | undefined,
) =>
  infiniteQueryOptions({
    // With whether it is active, so that the last results are loaded once it has ended.
    queryKey: [...KEY, "runs", id, isActive(bulkAction), result ?? null],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/bulk-actions/{bulk_action_id}/runs", {
        path: { bulk_action_id: id },
        query: {
          limit: RUNS_PAGE_SIZE,
          ...(result !== undefined && { result }),
          ...cursorParam(pageParam),
        },
        signal,
      }),
    ...cursorPagination,
    placeholderData: keepPreviousData,
    refetchInterval: isActive(bulkAction) && RUNS_POLL_MS,
  });

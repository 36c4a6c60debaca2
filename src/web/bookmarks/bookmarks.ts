/** The favourites and saved filters of the user. */
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import * as texts from "#texts/bookmarks";
import type { Bookmarks, SavedView, ViewPage } from "../../../schemas/bookmarks.ts";
import { send } from "../api/client.ts";
import { notifyError } from "../ui/notify.ts";

export const bookmarksQuery = queryOptions({
  queryKey: ["bookmarks"],
  queryFn: async ({ signal }): Promise<Bookmarks> => (await send("get", "/bookmarks", { signal })).data,
  staleTime: 60_000,
});

interface Change {
  add_favorites?: string[];
  remove_favorites?: string[];
  save_views?: SavedView[];
  remove_views?: { page: ViewPage; name: string }[];
}

/** Changes the bookmarks; the answer replaces those that the pages show. */
export function useUpdateBookmarks() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (change: Change) => (await send("patch", "/bookmarks", { body: change })).data,
    onSuccess: (bookmarks) => client.setQueryData(bookmarksQuery.queryKey, bookmarks),
    onError: (error) => notifyError(texts.saveFailed, error),
  });
}

/** @returns whether a workflow is a favourite of the user; undefined until it is known */
export const useIsFavorite = (workflowId: string): boolean | undefined =>
  useQuery(bookmarksQuery).data?.favorites.some(({ workflow_id: id }) => id === workflowId);

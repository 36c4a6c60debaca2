import { infiniteQueryOptions } from "@tanstack/react-query";
import type { ApiKey } from "../../../schemas/api-key.ts";
import { send } from "../api/client.ts";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";

/** A key as its creation returns it. The value is null if the response is a replay of an earlier one. */
export type NewKey = ApiKey & { value: string | null };

/** The user's own keys, or everyone's, which needs the scope admin; newest first. */
export const apiKeysQuery = (everyone: boolean) =>
  infiniteQueryOptions({
    queryKey: ["api-keys", { everyone }],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/api-keys", {
        query: { limit: 50, ...(everyone && { everyone }), ...cursorParam(pageParam) },
        signal,
      }),
    ...cursorPagination,
  });

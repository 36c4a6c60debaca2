import { infiniteQueryOptions } from "@tanstack/react-query";
import type { ApiKey } from "../../../schemas/api-key.ts";
import { send } from "../api/client.ts";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";

/** A key as its creation gives it: with its value, the one time. */
export type NewKey = ApiKey & { value: string | null };

/** One's own keys, or for admins everybody's; newest first. */
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

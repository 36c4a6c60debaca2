import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { ApiKey } from "../../../schemas/api-key.ts";
import { send } from "../api/client.ts";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";

/** A key as its creation returns it. The value is null if the response is a replay of an earlier one. */
export type NewKey = ApiKey & { value: string | null };

/**
 * The user's own keys, or everyone's, which needs the scope admin; newest first.
 * @param application whether to list the access of applications, or keys
 */
export const apiKeysQuery = ({ everyone, application }: { everyone: boolean; application: boolean }) =>
  infiniteQueryOptions({
    queryKey: ["api-keys", { everyone, application }],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/api-keys", {
        query: {
          // A user has at most 100 active ones, so that all that are grouped are on the first page.
          limit: application ? 100 : 50,
          application,
          ...(everyone && { everyone }),
          ...cursorParam(pageParam),
        },
        signal,
      }),
    ...cursorPagination,
  });

/** A key, with what it can do in words. */
export const apiKeyQuery = (id: string) =>
  queryOptions({
    queryKey: ["api-keys", id],
    queryFn: async ({ signal }) =>
      (await send("get", "/api-keys/{key_id}", { path: { key_id: id }, signal })).data,
  });

/** Maximum number of workflows that are suggested. Others can be typed. */
const SUGGESTED = 200;

/** The names that a new key can be limited to. */
export const limitChoicesQuery = queryOptions({
  queryKey: ["api-keys", "limits"],
  queryFn: async ({ signal }) => {
    const [projects, workflows] = await Promise.all([
      send("get", "/projects", { query: {}, signal }),
      send("get", "/workflows", { query: { limit: SUGGESTED }, signal }),
    ]);
    const ids = projects.data.map(({ id }) => id);
    const environments = await Promise.all(
      ids.map(async (project) => send("get", "/environment", { query: { project }, signal })),
    );
    const namesOf = (list: "databases" | "models"): string[] => [
      ...new Set(environments.flatMap(({ data }) => (data[list] ?? []).map(({ name }) => name))),
    ];
    return {
      projects: ids,
      workflows: workflows.data.map(({ id }) => id),
      databases: namesOf("databases"),
      models: namesOf("models"),
    };
  },
});

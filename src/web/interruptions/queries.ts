/** The queries of interruptions. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Interruption } from "../../../schemas/interruption.ts";
import { send } from "../api/client.ts";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";
import { outputTemplate } from "./texts.ts";

export const STATUSES = ["open", "settled", "all"] as const;
export type Status = (typeof STATUSES)[number];

const PAGE_SIZE = 50;
/** Maximum page size of the API. The schema that says so would bring the validation library into the first page. */
const MAX_PAGE_SIZE = 200;
const POLL_INTERVAL_MS = 10_000;
/** Maximum number of open interruptions that the notice names. */
const NOTICED = 5;

interface Filter {
  project?: string;
  run_id?: string;
  workflow_id?: string;
}

export const interruptionsQuery = (status: Status, filter: Filter) =>
  infiniteQueryOptions({
    queryKey: ["interruptions", "list", status, filter],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/interruptions", {
        query: { status, limit: PAGE_SIZE, ...filter, ...cursorParam(pageParam) },
        signal,
      }),
    ...cursorPagination,
    refetchInterval: status === "open" && POLL_INTERVAL_MS,
  });

/** The newest open interruptions, and the number of all. */
export const openInterruptionsQuery = (filter: Filter) =>
  queryOptions({
    queryKey: ["interruptions", "open", filter],
    queryFn: ({ signal }) =>
      send("get", "/interruptions", { query: { status: "open", limit: NOTICED, ...filter }, signal }),
    refetchInterval: POLL_INTERVAL_MS,
  });

/**
 * The newest interruptions of a run that are no longer open.
 * @param revision changes whenever the run may have others, so that they are loaded again
 */
export const answeredInterruptionsQuery = (runId: string, revision: string) =>
  queryOptions({
    queryKey: ["runs", runId, "interruptions", revision],
    queryFn: async ({ signal }): Promise<Interruption[]> => {
      const query = { status: "settled", run_id: runId, limit: MAX_PAGE_SIZE } as const;
      return (await send("get", "/interruptions", { query, signal })).data;
    },
    placeholderData: (before, query) => (query?.queryKey[1] === runId ? before : undefined),
  });

/** Outputs to fill in, by the types of steps. */
export const outputTemplatesQuery = queryOptions({
  queryKey: ["environment", "outputs"],
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, object>> => {
    const { data } = await send("get", "/environment", { query: { fields: ["step_types"] }, signal });
    return new Map((data.step_types ?? []).map(({ type, output }) => [type, outputTemplate(output)]));
  },
  staleTime: Infinity,
});

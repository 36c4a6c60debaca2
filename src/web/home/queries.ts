/** What the home page asks; each list is short, and its total comes with it. */
import { queryOptions } from "@tanstack/react-query";
import type { RunStatus } from "../../../schemas/run.ts";
import { send } from "../api/client.ts";

const DAY_MS = 86_400_000;
const EVERY_MS = 10_000;
const SHOWN = 6;

/** A day ago to the minute, so that the key of a query does not change with every look. */
export const dayAgo = (now: number): string =>
  new Date(Math.floor((now - DAY_MS) / 60_000) * 60_000).toISOString();

const live = { refetchInterval: EVERY_MS };

/** The newest runs in one of these statuses. @param since ISO 8601 */
export const homeRunsQuery = (status: RunStatus[], since?: string) =>
  queryOptions({
    queryKey: ["runs", "home", status, since],
    queryFn: ({ signal }) =>
      send("get", "/runs", {
        query: { limit: SHOWN, ...(status.length > 0 && { status }), ...(since !== undefined && { since }) },
        signal,
      }),
    ...live,
  });

export const pendingApprovalsQuery = queryOptions({
  queryKey: ["approvals", "home"],
  queryFn: ({ signal }) => send("get", "/approvals", { query: { status: "pending", limit: SHOWN }, signal }),
  ...live,
});

export const upcomingSchedulesQuery = queryOptions({
  queryKey: ["schedules", "home"],
  queryFn: ({ signal }) => send("get", "/schedules", { query: { limit: SHOWN }, signal }),
  refetchInterval: 60_000,
});

export const firstWorkflowsQuery = queryOptions({
  queryKey: ["workflows", "home"],
  queryFn: ({ signal }) => send("get", "/workflows", { query: { limit: 3 }, signal }),
});

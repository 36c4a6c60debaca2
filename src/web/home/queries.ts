/** The queries of the home page: the first items of each list, and the list's total. */
import { queryOptions } from "@tanstack/react-query";
import type { RunStatus } from "../../../schemas/run-status.ts";
import { send } from "../api/client.ts";

const DAY_MS = 86_400_000;
const POLL_INTERVAL_MS = 10_000;
const LIST_LENGTH = 6;

/** @returns the time 24 hours ago, rounded to the minute so that query keys stay stable between renders */
export const dayAgo = (now: number): string =>
  new Date(Math.floor((now - DAY_MS) / 60_000) * 60_000).toISOString();

const live = { refetchInterval: POLL_INTERVAL_MS };

/** The filter of all lists by the chosen project. */
interface ProjectFilter {
  project?: string;
}

/** The newest runs with one of these statuses; with any status for an empty list. @param since ISO 8601 */
export const homeRunsQuery = (filter: ProjectFilter, status: RunStatus[], since?: string) =>
  queryOptions({
    queryKey: ["runs", "home", filter, status, since],
    queryFn: ({ signal }) =>
      send("get", "/runs", {
        query: {
          limit: LIST_LENGTH,
          ...filter,
          ...(status.length > 0 && { status }),
          // A trial that fails is no failure of a workflow that people rely on.
          ...(status.includes("failed") && { trial: false }),
          ...(since !== undefined && { since }),
        },
        signal,
      }),
    ...live,
  });

/** Number of approvals on the home page. They are shown with what to decide on. */
const SHOWN_APPROVALS = 3;

/** All pending approvals, which the statistics count. */
export const pendingApprovalsQuery = (filter: ProjectFilter) =>
  queryOptions({
    queryKey: ["approvals", "home", filter],
    queryFn: ({ signal }) =>
      send("get", "/approvals", { query: { for_me: "all", limit: SHOWN_APPROVALS, ...filter }, signal }),
    ...live,
  });

/** Those that the user may decide, with the plan of each. */
export const decidableApprovalsQuery = (filter: ProjectFilter) =>
  queryOptions({
    queryKey: ["approvals", "home", "decidable", filter],
    queryFn: ({ signal }) =>
      send("get", "/approvals", {
        query: { for_me: "decidable", limit: SHOWN_APPROVALS, ...filter },
        signal,
      }),
    ...live,
  });

/** How the runs of the last two weeks ended, by days of the browser's time zone. */
export const runStatisticsQuery = (filter: ProjectFilter) =>
  queryOptions({
    queryKey: ["runs", "statistics", filter],
    queryFn: async ({ signal }) =>
      (
        await send("get", "/run-statistics", {
          query: {
            days: 14,
            timezone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
            ...filter,
          },
          signal,
        })
      ).data,
    refetchInterval: 60_000,
  });

export const upcomingSchedulesQuery = (filter: ProjectFilter) =>
  queryOptions({
    queryKey: ["schedules", "home", filter],
    queryFn: ({ signal }) => send("get", "/schedules", { query: { limit: LIST_LENGTH, ...filter }, signal }),
    refetchInterval: 60_000,
  });

export const firstWorkflowsQuery = (filter: ProjectFilter) =>
  queryOptions({
    queryKey: ["workflows", "home", filter],
    queryFn: ({ signal }) => send("get", "/workflows", { query: { limit: 3, ...filter }, signal }),
  });

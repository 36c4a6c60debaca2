/** The queries of groups of runs. Every query key starts with "runs". */
import { queryOptions } from "@tanstack/react-query";
import type { RunGroups } from "../../../schemas/run-groups.ts";
import type { Endpoints } from "../../../schemas/generated/endpoints.ts";
import { send } from "../api/client.ts";
import type { LastDays } from "./last-days.ts";

export type GroupsQuery = Endpoints.get_Group_runs["parameters"]["query"];

/** How long the counts of the last days are shown again, and how often they are read: each reads up to 50,000 runs. In milliseconds. */
const STALE_MS = 60_000;
const POLL_INTERVAL_MS = 300_000;
/** Maximum number of groups that the API returns. */
export const MAX_SHOWN_GROUPS = 1_000;
/** Maximum length of a condition, in characters. */
const MAX_CONDITION_CHARS = 500;

/** The time zone of the browser, in which days are counted. */
export const browserTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export const readGroups = async (query: GroupsQuery, signal: AbortSignal): Promise<RunGroups> =>
  (await send("get", "/runs/groups", { query, signal })).data;

const lastDaysQuery = (query: GroupsQuery) =>
  queryOptions({
    queryKey: ["runs", "groups", query],
    queryFn: ({ signal }) => readGroups(query, signal),
    staleTime: STALE_MS,
    refetchInterval: POLL_INTERVAL_MS,
  });

/** Runs by workflow; those of single steps have none. Trials are left out. */
export const workflowGroupsQuery = ({ since }: LastDays, project: { project?: string }) =>
  lastDaysQuery({ ...project, since, trial: false, group_by: ["workflow_id"], max_groups: MAX_SHOWN_GROUPS });

/** Runs of these workflows by workflow and day. @param workflows ids; null for single steps */
export function workflowDaysQuery(
  { since }: LastDays,
  project: { project?: string },
  workflows: readonly (string | null)[],
) {
  // The order of the workflows changes with their counts, and the query stays the same.
  const sorted = workflows.toSorted((a, b) => (a ?? "").localeCompare(b ?? ""));
  const where = `run.workflow_id in ${JSON.stringify(sorted)}`;
  return lastDaysQuery({
    ...project,
    since,
    trial: false,
    // With very long ids the groups of all workflows are read.
    ...(where.length <= MAX_CONDITION_CHARS && { where }),
    group_by: ["workflow_id", "day"],
    timezone: browserTimeZone(),
    max_groups: MAX_SHOWN_GROUPS,
  });
}

/** Runs of a workflow by day. */
export const daysOfWorkflowQuery = (workflowId: string, { since }: LastDays) =>
  lastDaysQuery({
    workflow_id: workflowId,
    since,
    trial: false,
    group_by: ["day"],
    timezone: browserTimeZone(),
  });

/** All runs of a workflow as one group, for their median duration: medians of days do not give it. */
export const durationOfWorkflowQuery = (workflowId: string, { since }: LastDays) =>
  lastDaysQuery({ workflow_id: workflowId, since, trial: false });

/** The queries of the workflow pages. */
import { infiniteQueryOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import type { ScheduleState } from "../../../schemas/schedule-state.ts";
import type { WorkflowStateContent } from "../../../schemas/workflow-state.ts";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { ApiError, send } from "../api/client.ts";
import { toText } from "../editor/format.ts";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";
import type { Filters } from "./filters.ts";

const PAGE_SIZE = 100;

/** A workflow with the ETag of its revision, for If-Match. */
export interface WorkflowWithEtag {
  workflow: WorkflowWithDefinition;
  etag: string;
}

export const workflowQuery = (id: string) =>
  queryOptions({
    queryKey: ["workflows", id],
    queryFn: ({ signal }): Promise<WorkflowWithEtag> => readWorkflow(id, signal),
  });

export async function readWorkflow(id: string, signal?: AbortSignal): Promise<WorkflowWithEtag> {
  const { data, etag } = await send("get", "/workflows/{workflow_id}", {
    path: { workflow_id: id },
    query: {},
    ...(signal && { signal }),
  });
  return { workflow: data as WorkflowWithDefinition, etag: etag ?? "" };
}

/** A workflow with the text of its definition: as it was written, else generated. */
export async function readWrittenWorkflow(
  id: string,
  signal?: AbortSignal,
): Promise<{ read: WorkflowWithEtag; text: string }> {
  const { data, etag } = await send("get", "/workflows/{workflow_id}", {
    path: { workflow_id: id },
    query: { include: ["text"] },
    ...(signal && { signal }),
  });
  const { definition_text: written, ...workflow } = data;
  const read = { workflow: workflow as WorkflowWithDefinition, etag: etag ?? "" };
  return { read, text: written ?? (await toText(read.workflow.definition, "yaml")) };
}

export const workflowsQuery = (filters: Filters, project: { project?: string }) =>
  infiniteQueryOptions({
    queryKey: ["workflows", "list", filters, project],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/workflows", {
        query: {
          ...filters,
          ...project,
          include: ["last_run"],
          limit: PAGE_SIZE,
          ...cursorParam(pageParam),
        },
        signal,
      }),
    ...cursorPagination,
  });

export const versionsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["workflows", id, "versions"],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/workflows/{workflow_id}/versions", {
        path: { workflow_id: id },
        query: { limit: PAGE_SIZE, ...cursorParam(pageParam) },
        signal,
      }),
    ...cursorPagination,
  });

/** One version with its definition and the text of that, which never change. */
export const versionQuery = (id: string, version: number) =>
  queryOptions({
    queryKey: ["workflows", id, "versions", version],
    queryFn: async ({ signal }) =>
      (
        await send("get", "/workflows/{workflow_id}/versions/{version}", {
          path: { workflow_id: id, version },
          signal,
        })
      ).data,
    staleTime: Infinity,
  });

/** Whether agents get the published version as a tool. */
export const exposureQuery = (id: string) =>
  queryOptions({
    queryKey: ["workflows", id, "exposure"],
    queryFn: async ({ signal }) =>
      (await send("get", "/workflows/{workflow_id}/exposure", { path: { workflow_id: id }, signal })).data,
  });

/** The schedule of the published version; null when it has none. */
export const scheduleQuery = (id: string) =>
  queryOptions({
    queryKey: ["workflows", id, "schedule"],
    queryFn: async ({ signal }): Promise<ScheduleState | null> => {
      try {
        return (await send("get", "/workflows/{workflow_id}/schedule", { path: { workflow_id: id }, signal }))
          .data;
      } catch (error) {
        if (error instanceof ApiError && error.code === "schedule_not_found") return null;
        throw error;
      }
    },
    refetchInterval: 60_000,
  });

/** The triggers of the published version. */
export const triggersQuery = (id: string) =>
  queryOptions({
    queryKey: ["workflows", id, "triggers"],
    queryFn: async ({ signal }) =>
      (await send("get", "/workflows/{workflow_id}/triggers", { path: { workflow_id: id }, signal })).data
        .items,
  });

/** Number of the newest deliveries that the page of a workflow shows. */
const SHOWN_DELIVERIES = 20;

/** What the triggers of a workflow have received, newest first. */
export const triggerDeliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: ["workflows", id, "deliveries"],
    queryFn: async ({ signal }) =>
      (
        await send("get", "/workflows/{workflow_id}/deliveries", {
          path: { workflow_id: id },
          query: { limit: SHOWN_DELIVERIES },
          signal,
        })
      ).data,
    refetchInterval: 10_000,
  });

/** A delivery with its body. */
export const triggerDeliveryQuery = (id: string, delivery: string) =>
  queryOptions({
    queryKey: ["workflows", id, "deliveries", delivery],
    queryFn: async ({ signal }) =>
      (
        await send("get", "/workflows/{workflow_id}/deliveries/{delivery_id}", {
          path: { workflow_id: id, delivery_id: delivery },
          signal,
        })
      ).data,
  });

/** Number of backfills that the page of a workflow shows. */
const SHOWN_BACKFILLS = 3;

/** A workflow's newest backfills. */
export const backfillsQuery = (id: string) =>
  queryOptions({
    queryKey: ["workflows", id, "backfills"],
    queryFn: async ({ signal }) =>
      (
        await send("get", "/workflows/{workflow_id}/backfills", {
          path: { workflow_id: id },
          query: { limit: SHOWN_BACKFILLS },
          signal,
        })
      ).data,
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === "running") === true ? ACTIVE_POLL_MS : IDLE_POLL_MS,
  });

/** Number of changes of the state that the page of a workflow shows. */
const SHOWN_CHANGES = 20;

/** The newest changes of a workflow's state. It is loaded again with the state. */
export const stateHistoryQuery = (id: string) =>
  queryOptions({
    queryKey: ["workflows", id, "state", "history"],
    queryFn: async ({ signal }) =>
      (
        await send("get", "/workflows/{workflow_id}/state/history", {
          path: { workflow_id: id },
          query: { limit: SHOWN_CHANGES },
          signal,
        })
      ).data,
    refetchInterval: IDLE_POLL_MS,
  });

/** The state of a workflow with its ETag, for If-Match; null when the version that runs declares none. */
export const stateQuery = (id: string) =>
  queryOptions({
    queryKey: ["workflows", id, "state"],
    queryFn: async ({ signal }): Promise<{ state: WorkflowStateContent; etag: string } | null> => {
      try {
        const path = { workflow_id: id };
        const { data, etag } = await send("get", "/workflows/{workflow_id}/state", { path, signal });
        return { state: data, etag: etag ?? "" };
      } catch (error) {
        if (error instanceof ApiError && error.code === "state_not_found") return null;
        throw error;
      }
    },
    refetchInterval: 30_000,
  });

const SHOWN_RUNS = 10;
/** Polling interval while a run is active, in milliseconds. */
const ACTIVE_POLL_MS = 3_000;
const IDLE_POLL_MS = 30_000;

/** A workflow's latest runs. */
export const recentRunsQuery = (id: string) =>
  queryOptions({
    queryKey: ["runs", "recent", id],
    queryFn: async ({ signal }) =>
      (await send("get", "/runs", { query: { workflow_id: id, limit: SHOWN_RUNS }, signal })).data,
    refetchInterval: ({ state }) =>
      state.data?.some(({ finished_at: end }) => end === null) === true ? ACTIVE_POLL_MS : IDLE_POLL_MS,
  });

/** A cron expression in words; itself where it can't be read. The library is loaded on demand. */
export const cronQuery = (cron: string) =>
  queryOptions({
    queryKey: ["cron", cron],
    queryFn: async () => {
      const { describeCron } = await import("./cron-words.ts");
      return describeCron(cron) ?? cron;
    },
    staleTime: Infinity,
  });

/** Reloads the workflow queries after a change. */
export const invalidateWorkflows = (client: QueryClient): Promise<void> =>
  client.invalidateQueries({ queryKey: ["workflows"] });

/** The queries of backtests. Their keys begin with that of the workflow. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Backtest, BacktestResult, BacktestRun } from "../../../schemas/backtest.ts";
import { ApiError, send } from "../api/client.ts";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";

/** Polling interval while a backtest is running, in milliseconds. */
const ACTIVE_POLL_MS = 2_000;
/** The same for its lists of runs, which are longer. */
const RUNS_POLL_MS = 5_000;
const IDLE_POLL_MS = 30_000;
/** Number of backtests of a page of the list. */
const LIST_PAGE_SIZE = 5;
/** Number of runs of a page of the table. */
const RUNS_PAGE_SIZE = 50;
/** The largest page of the API. */
const MAX_PAGE_SIZE = 200;

export const isRunning = ({ status }: Pick<Backtest, "status">): boolean => status === "running";

export const backtestsKey = (workflowId: string) => ["workflows", workflowId, "backtests"] as const;

/** One backtest; null if none has this id. */
export const backtestQuery = (workflowId: string, id: string) =>
  queryOptions({
    queryKey: [...backtestsKey(workflowId), "one", id],
    queryFn: async ({ signal }): Promise<Backtest | null> => {
      try {
        const path = { workflow_id: workflowId, backtest_id: id };
        return (
          await send("get", "/workflows/{workflow_id}/backtests/{backtest_id}", { path, query: {}, signal })
        ).data;
      } catch (error) {
        if (error instanceof ApiError && error.code === "backtest_not_found") return null;
        throw error;
      }
    },
    refetchInterval: ({ state: { data } }) =>
      data !== null && data !== undefined && isRunning(data) && ACTIVE_POLL_MS,
  });

/** The backtests of a workflow, newest first. */
export const backtestsQuery = (workflowId: string) =>
  infiniteQueryOptions({
    queryKey: [...backtestsKey(workflowId), "list"],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/workflows/{workflow_id}/backtests", {
        path: { workflow_id: workflowId },
        query: { limit: LIST_PAGE_SIZE, ...cursorParam(pageParam) },
        signal,
      }),
    ...cursorPagination,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some(isRunning)) === true ? ACTIVE_POLL_MS : IDLE_POLL_MS,
  });

/**
 * The newest backtest of a saved version; null for none. It is loaded again while it runs, and once one is started here.
 * @param isExpected whether one may start without this page: it is loaded again then too
 */
export const versionBacktestQuery = (workflowId: string, version: number, isExpected: boolean) =>
  queryOptions({
    queryKey: [...backtestsKey(workflowId), "version", version],
    queryFn: async ({ signal }): Promise<Backtest | null> => {
      const path = { workflow_id: workflowId };
      const query = { version, limit: 1 };
      const { data } = await send("get", "/workflows/{workflow_id}/backtests", { path, query, signal });
      return data[0] ?? null;
    },
    refetchInterval: ({ state: { data } }) =>
      (isExpected || (data !== null && data !== undefined && isRunning(data))) && ACTIVE_POLL_MS,
  });

type OfBacktest = Pick<Backtest, "workflow_id" | "id" | "status">;

/** The runs of a backtest with one result, the newest run first. @param result undefined for all */
export const backtestRunsQuery = (backtest: OfBacktest, result: BacktestResult | undefined) =>
  infiniteQueryOptions({
    // With the status, so that the last results are loaded once it has ended.
    queryKey: [...backtestsKey(backtest.workflow_id), "runs", backtest.id, backtest.status, result ?? null],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/workflows/{workflow_id}/backtests/{backtest_id}/runs", {
        path: { workflow_id: backtest.workflow_id, backtest_id: backtest.id },
        query: {
          limit: RUNS_PAGE_SIZE,
          ...(result !== undefined && { result }),
          ...cursorParam(pageParam),
        },
        signal,
      }),
    ...cursorPagination,
    placeholderData: keepPreviousData,
    refetchInterval: isRunning(backtest) && RUNS_POLL_MS,
  });

/** All runs of a backtest, for the chart, the newest first. */
export const allBacktestRunsQuery = (backtest: OfBacktest) =>
  queryOptions({
    queryKey: [...backtestsKey(backtest.workflow_id), "all-runs", backtest.id, backtest.status],
    queryFn: async ({ signal }): Promise<BacktestRun[]> => {
      const path = { workflow_id: backtest.workflow_id, backtest_id: backtest.id };
      const all: BacktestRun[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const query = { limit: MAX_PAGE_SIZE, ...cursorParam(cursor) };
        const page: { data: BacktestRun[]; next: string | null } = await send(
          "get",
          "/workflows/{workflow_id}/backtests/{backtest_id}/runs",
          { path, query, signal },
        );
        all.push(...page.data);
        cursor = page.next;
      }
      return all;
    },
    placeholderData: keepPreviousData,
    refetchInterval: isRunning(backtest) && RUNS_POLL_MS,
  });

import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Review } from "../../../schemas/review.ts";
import { ApiError, send } from "../api/client.ts";
import { useProjectFilter, useProjects } from "../projects/use-projects.tsx";

const POLL_INTERVAL_MS = 30_000;

/** The query of one change request. Its data is null if none has this id. */
export const reviewQuery = (id: string) =>
  queryOptions({
    queryKey: ["reviews", "one", id],
    queryFn: async ({ signal }): Promise<Review | null> => {
      try {
        return (await send("get", "/reviews/{review_id}", { path: { review_id: id }, signal })).data;
      } catch (error) {
        if (error instanceof ApiError && error.code === "review_not_found") return null;
        throw error;
      }
    },
  });

/** The pending change request of a workflow; null for none. */
export const pendingReviewQuery = (workflowId: string) =>
  queryOptions({
    queryKey: ["reviews", "of", workflowId],
    queryFn: async ({ signal }): Promise<Review | null> =>
      (await send("get", "/reviews", { query: { workflow_id: workflowId, limit: 1 }, signal })).data[0] ??
      null,
  });

/** @returns the number of pending change requests of the chosen project; undefined where no project of the person requires reviews */
export function usePendingReviews(): number | undefined {
  const filter = useProjectFilter();
  const isRequired = useProjects().projects.some(({ review }) => review);
  const pending = useQuery({
    queryKey: ["reviews", "pending", filter],
    queryFn: async ({ signal }) =>
      (await send("get", "/reviews", { query: { status: "pending", limit: 1, ...filter }, signal })).total ??
      0,
    refetchInterval: POLL_INTERVAL_MS,
    enabled: isRequired,
  });
  return isRequired ? (pending.data ?? 0) : undefined;
}

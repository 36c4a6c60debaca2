import { useQuery } from "@tanstack/react-query";
import { send } from "../api/client.ts";
import { useProjectFilter } from "../projects/use-projects.tsx";

const POLL_INTERVAL_MS = 30_000;

/** @returns the number of pending approvals of the chosen project that the user may decide; undefined until it is loaded */
export function usePendingApprovals(): number | undefined {
  const filter = useProjectFilter();
  const { data } = useQuery({
    queryKey: ["approvals", "pending", filter],
    queryFn: async ({ signal }) =>
      (await send("get", "/approvals", { query: { for_me: "decidable", limit: 1, ...filter }, signal }))
        .total ?? 0,
    refetchInterval: POLL_INTERVAL_MS,
  });
  return data;
}

import { useQuery } from "@tanstack/react-query";
import { send } from "../api/client.ts";

const POLL_INTERVAL_MS = 30_000;

/** @returns the number of pending approvals; undefined until it is loaded */
export function usePendingApprovals(): number | undefined {
  const { data } = useQuery({
    queryKey: ["approvals", "pending"],
    queryFn: async ({ signal }) =>
      (await send("get", "/approvals", { query: { status: "pending", limit: 1 }, signal })).total ?? 0,
    refetchInterval: POLL_INTERVAL_MS,
  });
  return data;
}

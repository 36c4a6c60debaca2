/** How many approvals wait to be decided: a number for the navigation. */
import { useQuery } from "@tanstack/react-query";
import { send } from "../api/client.ts";

const EVERY_MS = 30_000;

/** @returns undefined until it is known */
export function usePendingApprovals(): number | undefined {
  const { data } = useQuery({
    queryKey: ["approvals", "pending"],
    queryFn: async ({ signal }) =>
      (await send("get", "/approvals", { query: { status: "pending", limit: 1 }, signal })).total ?? 0,
    refetchInterval: EVERY_MS,
  });
  return data;
}

/** What a retry would do, as the server plans it. Nothing is started. */
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { RetrySteps } from "../../../schemas/run.ts";
import { send } from "../api/client.ts";
import type { RetryRequest } from "./retry.tsx";

/** Pause in typing after which the plan is made again, in milliseconds. */
const DEBOUNCE_MS = 500;

/**
 * @param request the retry; undefined while there is nothing to plan
 * @returns undefined where the server refuses the retry: the button, which sends the same request, shows why
 */
export function useRetryPlan(runId: string, request: RetryRequest | undefined): RetrySteps | undefined {
  const [settled] = useDebouncedValue(request === undefined ? "" : JSON.stringify(request), DEBOUNCE_MS);
  const { data, isError } = useQuery({
    queryKey: ["runs", runId, "retry-plan", settled],
    queryFn: async ({ signal }) => {
      const body = { ...(JSON.parse(settled) as RetryRequest), dry_run: true };
      const { data: plan } = await send("post", "/runs/{run_id}/retry", {
        path: { run_id: runId },
        body,
        signal,
      });
      return plan.retry ?? null;
    },
    enabled: settled !== "",
    placeholderData: keepPreviousData,
    retry: false,
    // Depends on connections and called workflows, which may change.
    gcTime: 0,
  });
  return request === undefined || isError ? undefined : (data ?? undefined);
}

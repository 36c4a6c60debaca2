import { useQueryClient } from "@tanstack/react-query";
import type { Backtest, BacktestReads } from "../../../schemas/backtest.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { backtestsKey } from "./queries.ts";

/** What is tested, and with which runs; left out, the defaults of the API. */
export interface BacktestRequest {
  definition?: string;
  version?: number;
  last?: number;
  status?: "succeeded" | "failed";
  /** The workflow of the runs; left out, the one that is tested. */
  source_workflow_id?: string;
  reads?: BacktestReads;
}

/** A mutation that starts a backtest. */
export function useStartBacktest(workflowId: string, onStarted: (backtest: Backtest) => void) {
  const client = useQueryClient();
  return useSingleFlightMutation({
    mutationFn: async (body: BacktestRequest): Promise<Backtest> =>
      (
        await send("post", "/workflows/{workflow_id}/backtests", {
          path: { workflow_id: workflowId },
          body,
          header: idempotencyHeader(),
        })
      ).data,
    onSuccess: async (backtest) => {
      await client.invalidateQueries({ queryKey: backtestsKey(workflowId) });
      onStarted(backtest);
    },
  });
}

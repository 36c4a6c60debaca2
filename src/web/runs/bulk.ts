/** Does the same with several runs, one after the other, and reports what became of each. */
import { ApiError, send } from "../api/client.ts";

/** Maximum number of runs of one bulk action. */
export const MAX_BULK = 100;

export type BulkAction = "cancel" | "retry";

export interface BulkResult {
  runId: string;
  /** `effects`: a retry would repeat effects, so it needs a confirmation. */
  outcome: "done" | "refused" | "effects";
  /** Why it was refused. */
  reason?: string;
  /** The run that a retry started. */
  startedRun?: string;
}

interface BulkOptions {
  /** Repeats effects too, as the person has confirmed. */
  confirm?: boolean;
  headerFor: HeaderFor;
  /** Called after each run. */
  onResult: (result: BulkResult) => void;
  /** Stops before the next run. */
  signal: AbortSignal;
}

/** Requests one run's change; its permissions are checked by the server, as for a single one. */
type BulkRequest = (request: {
  runId: string;
  /** Whether it may repeat effects. */
  confirm: boolean;
  /** The same for each request that is the same. */
  headerFor: HeaderFor;
}) => Promise<{ startedRun?: string }>;
type HeaderFor = (body: unknown) => { "Idempotency-Key": string };

export const BULK_REQUESTS: Readonly<Record<BulkAction, BulkRequest>> = {
  async cancel({ runId, headerFor }) {
    await send("post", "/runs/{run_id}/cancel", {
      path: { run_id: runId },
      header: headerFor({ cancel: runId }),
      body: {},
    });
    return {};
  },
  async retry({ runId, confirm, headerFor }) {
    const { data } = await send("post", "/runs/{run_id}/retry", {
      path: { run_id: runId },
      header: headerFor({ retry: runId, confirm }),
      body: confirm ? { confirm: true } : {},
    });
    return { startedRun: data.id };
  },
};

/** One after the other, so that a bulk action takes no more of the server than one person who clicks fast. */
export async function runBulk(
  request: BulkRequest,
  runIds: readonly string[],
  { confirm = false, headerFor, onResult, signal }: BulkOptions,
): Promise<void> {
  for (const runId of runIds.slice(0, MAX_BULK)) {
    if (signal.aborted) return;
    try {
      onResult({ runId, outcome: "done", ...(await request({ runId, confirm, headerFor })) });
    } catch (error) {
      onResult(refusalOf(runId, error));
    }
  }
}

function refusalOf(runId: string, error: unknown): BulkResult {
  if (error instanceof ApiError && error.code === "confirmation_needed") {
    const steps = (error.problem.errors ?? []).map(({ path, message }) => `${path} ${message}`.trim());
    return { runId, outcome: "effects", reason: steps.join("; ") || error.message };
  }
  return { runId, outcome: "refused", reason: error instanceof Error ? error.message : String(error) };
}

/** A job that failed as none should: its run says so and ends, rather than trying it for ever. */
import { iso } from "../../core/clock.ts";
import type { RunReader } from "../../core/run-ports.ts";
import type { OnUnexpectedError } from "../../queue/types.ts";
import { toRunError } from "../run-state/run-error.ts";
import { recordOutcome } from "../run-state/record-outcome.ts";
import { finishRun, type RunContext, stopRun } from "../run-state/transitions.ts";

export const onUnexpectedError =
  (mover: RunContext, runs: Pick<RunReader, "find">): OnUnexpectedError =>
  async (job, thrown) => {
    const error = toRunError(thrown, job);
    const run = await runs.find(job.runId);
    if (run === undefined || run.finishedAt !== null)
      return { kind: "complete", change: () => Promise.resolve() };
    const now = iso(mover.clock.now());
    return {
      kind: "complete",
      async change(tx) {
        if (job.kind === "finish") {
          await finishRun(mover, tx, job.runId, { error });
        } else if (job.kind === "step" && job.item === null) {
          const times = { startedAt: now, finishedAt: now, attempts: job.attempt };
          await recordOutcome(mover, tx, job, { kind: "failed", error }, times);
        } else if (job.stepId !== "") {
          await stopRun(mover, tx, job.runId, { status: "failed", error });
        }
      },
    };
  };

/** Fails the run of a job whose handler threw an unexpected error, which is a bug: the job would be retried forever. */
import { iso } from "../../core/clock.ts";
import type { RunReader } from "../../core/run-ports.ts";
import type { OnUnexpectedError } from "../../queue/types.ts";
import { stopRun } from "../run-state/advance-run.ts";
import { finishRun } from "../run-state/end-run.ts";
import { recordOutcome } from "../run-state/record-outcome.ts";
import type { RunContext } from "../run-state/run-context.ts";
import { toRunError } from "../run-state/run-error.ts";
import { recordUndo } from "../run-state/undo.ts";
import { withChange, withoutChange } from "./job-results.ts";

export const onUnexpectedError =
  (context: RunContext, runs: Pick<RunReader, "find">): OnUnexpectedError =>
  async (job, thrown) => {
    const error = toRunError(thrown, job);
    const run = await runs.find(job.runId);
    if (run === undefined || run.finishedAt !== null) return withoutChange();
    const now = iso(context.clock.now());
    return withChange(async (tx) => {
      if (job.kind === "finish") {
        await finishRun(context, tx, job.runId, { error });
      } else if (job.kind === "undo") {
        const times = { startedAt: now, finishedAt: now, attempts: job.attempt };
        await recordUndo(context, tx, job, { error }, times);
      } else if (job.kind === "step" && job.item === null) {
        const times = { startedAt: now, finishedAt: now, attempts: job.attempt };
        await recordOutcome(context, tx, job, { kind: "failed", error }, times);
      } else if (job.stepId !== "") {
        await stopRun(context, tx, job.runId, { status: "failed", error });
      }
    });
  };

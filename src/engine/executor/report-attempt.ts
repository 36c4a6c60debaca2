/** Reports the end of an attempt after the commit: to the metrics, and to the log when it failed. */
import type { RunError } from "../../../schemas/run.ts";
import type { AttemptOutcome } from "../../core/meter.ts";
import type { RunRecord, StepRef } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import { stepRefLogFields } from "../../core/step-ref-log-fields.ts";
import type { RunContext } from "../run-state/run-context.ts";
import { isEnded, type StepResult } from "../run-state/step-result.ts";

interface AttemptReport {
  run: Pick<RunRecord, "workflowId">;
  job: StepRef & { attempt: number };
  /** The step's type. */
  type: string;
  executor: string;
  outcome: AttemptOutcome;
  error: RunError | null;
  /** How long the step's code ran; undefined when it did not run to its end. */
  seconds: number | undefined;
}

/** The log line leaves out the error's message, which may hold values that only readers of the run may see. */
export function reportAttempt({ meter, log }: RunContext, tx: EngineWriters, report: AttemptReport): void {
  const { run, job, type, executor, outcome, error, seconds } = report;
  const failure = outcome === "failed" ? error : null;
  tx.onCommit(() => {
    meter.attemptEnded({ type, outcome, code: failure?.code ?? null, seconds });
    if (failure === null) return;
    if (failure.code === "poisoned") meter.jobPoisoned();
    log.info(
      {
        workflow_id: run.workflowId,
        ...stepRefLogFields(job),
        attempt: job.attempt,
        type,
        executor,
        code: failure.code,
        ...(seconds !== undefined && { ms: Math.round(seconds * 1_000) }),
      },
      "step failed",
    );
  });
}

/** The outcome of an attempt for the metrics. */
export function attemptOutcome(result: StepResult): AttemptOutcome {
  if (!isEnded(result)) return "handed_on";
  return result.kind === "succeeded" && result.reusedFrom !== undefined ? "reused" : result.kind;
}

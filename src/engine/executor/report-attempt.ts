/** What became of an attempt, told once it is committed: to the meter, and to the log where it failed. */
import type { RunError } from "../../../schemas/run.ts";
import type { AttemptOutcome } from "../../core/meter.ts";
import type { EngineWriters, StepRef } from "../../core/run-ports.ts";
import { stepRefLogFields } from "../../core/step-ref-log-fields.ts";
import type { StepResult } from "../run-state/record-outcome.ts";
import type { RunContext } from "../run-state/transitions.ts";

interface AttemptReport {
  run: { workflowId: string };
  job: StepRef & { attempt: number };
  /** The step's type. */
  type: string;
  executor: string;
  outcome: AttemptOutcome;
  error: RunError | null;
  /** How long its code ran, where it did. */
  seconds: number | undefined;
}

/** The error's message is not told: it may hold what only who may read the run should see. */
export function reportAttempt({ meter, log }: RunContext, tx: EngineWriters, told: AttemptReport): void {
  const { run, job, type, executor, outcome, error, seconds } = told;
  const failed = outcome === "failed" ? error : null;
  tx.onCommit(() => {
    meter.attemptEnded({ type, outcome, code: failed?.code ?? null, seconds });
    if (failed === null) return;
    if (failed.code === "poisoned") meter.jobPoisoned();
    log.info(
      {
        workflow_id: run.workflowId,
        ...stepRefLogFields(job),
        attempt: job.attempt,
        type,
        executor,
        code: failed.code,
        ...(seconds !== undefined && { ms: Math.round(seconds * 1_000) }),
      },
      "step failed",
    );
  });
}

const OUTCOMES: Readonly<Record<StepResult["kind"], AttemptOutcome>> = {
  succeeded: "succeeded",
  skipped: "skipped",
  failed: "failed",
  cancelled: "cancelled",
  fan_out: "handed_on",
  wait: "handed_on",
  approval: "handed_on",
  child: "handed_on",
};

/** What a result makes of the attempt that gave it. */
export const attemptOutcome = (result: StepResult): AttemptOutcome =>
  result.kind === "succeeded" && result.reusedFrom !== undefined ? "reused" : OUTCOMES[result.kind];

/** A `workflow` step waits until the run that it started has ended, or fails when its timeout is over. */
import { iso } from "../../../core/clock.ts";
import type { RunRecord } from "../../../core/model.ts";
import { StepError, type StepErrorCode } from "../../../core/step-errors.ts";
import { newJob, runRef } from "../run-context.ts";
import { toRunError } from "../run-error.ts";
import { insertRun } from "../start-run.ts";
import type { OutcomeWait } from "./wait-kind.ts";

export const childRunWait: OutcomeWait<"child"> = {
  state: "running",

  prepare: async (outcome, { run, job, inputHash, now, timeoutMs, prepareChildRun }) => ({
    kind: "child",
    run: await prepareChildRun(run, job, outcome),
    inputHash,
    until: timeoutMs === null ? null : iso(now + timeoutMs),
  }),

  async begin({ context, update: { tx, run }, ref, attempt }, { run: child, until }) {
    await insertRun(context, tx, child);
    if (until !== null) await tx.jobs.add(newJob(ref, "wake", run.priority, { dueAt: until, attempt }));
    return { childRun: child.id, waitUntil: until };
  },

  matches: async (_tx, { childRun }) => childRun !== null,

  async onTimer(_context, tx, step, ref) {
    const childRun = step.childRun!;
    await tx.jobs.add(newJob(runRef(childRun), "cancel", 0));
    return { kind: "failed", error: toRunError(childTimeout(ref.stepId, childRun), ref) };
  },
};

const childTimeout = (stepId: string, child: string): StepError =>
  new StepError(
    "timeout",
    `The run ${child} that "${stepId}" started exceeded its timeout and was stopped.`,
    {
      fix: "Give the step a longer timeout.",
    },
  );

/**
 * The error of a step whose child run failed or was cancelled. A cancellation is a decision of a person, so it is neither
 * retried nor continued, on any level above it.
 */
export function childFailure({ id, workflowId, status, stop, error }: RunRecord): StepError {
  const details = { run_id: id, status, error };
  const fix = error?.fix === undefined ? {} : { fix: error.fix };
  if (status === "cancelled") {
    const by = stop?.status === "cancelled" ? ` by ${stop.by}` : "";
    const message = `The run ${id} of "${workflowId}" was cancelled${by}.`;
    return new StepError("child_cancelled", message, { fix: "Retry the run to start it again.", details });
  }
  const message = `The run ${id} of "${workflowId}" failed: ${error?.message ?? "no error was recorded."}`;
  return new StepError(codeOf(error), message, { ...fix, details });
}

/** Errors that end the runs above, whatever their steps do about errors. */
const PASSED_ON = new Set<string>(["child_cancelled", "interrupted", "not_given"] satisfies StepErrorCode[]);

const codeOf = (error: RunRecord["error"]): StepErrorCode =>
  error !== null && PASSED_ON.has(error.code) ? (error.code as StepErrorCode) : "child_failed";

/** The same for the run of a workflow that another project offers: what happened in it is shown there only. */
export function foreignFailure({ id, workflowId, project, status, error }: RunRecord): StepError {
  const isCancelled = status === "cancelled" || error?.code === "child_cancelled";
  return new StepError(
    isCancelled ? "child_cancelled" : codeOf(error),
    `The run ${id} of "${workflowId}" ${isCancelled ? "was cancelled" : "failed"}. It belongs to the project "${project}".`,
    {
      fix: `Ask somebody in the project "${project}" why, with the id of the run.`,
      details: { run_id: id, status },
    },
  );
}

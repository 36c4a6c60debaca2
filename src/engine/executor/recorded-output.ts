/** Finds recorded outputs that a step can reuse instead of running again. */
import { canonicalJson } from "../../core/canonical-json.ts";
import type { Job, RunRecord } from "../../core/model.ts";
import type { RunReader } from "../../core/run-ports.ts";
import type { PlannedStep } from "../definition/plan.ts";
import type { StepResult } from "../run-state/step-result.ts";

/** Cached outputs are shared by all runs of a workflow. */
export const cacheKey = (run: RunRecord, job: Job, inputHash: string): string =>
  `${run.workflowId} ${job.stepId} ${inputHash}`;

/**
 * Finds the output of the same step with the same input, in a run that this one retries or in the cache.
 * @param now ISO 8601; cached outputs that have expired by then are ignored
 */
export async function recordedOutput(
  runs: RunReader,
  { run, job, planned }: { run: RunRecord; job: Job; planned: PlannedStep },
  inputHash: string,
  now: string,
): Promise<StepResult | undefined> {
  if (planned.type.isReusable?.(planned.step) === false) return undefined;
  // The retried run may itself be a retry that was stopped before it reached this step.
  for (let retried = run.retryOf; retried !== null; retried = (await runs.find(retried))?.retryOf ?? null) {
    const ref = { runId: retried, stepId: job.stepId, item: job.item };
    const step = await runs.step(ref);
    if (step?.state !== "succeeded" || step.inputHash !== inputHash) continue;
    if (planned.type.runScoped === true && !(await isSameWork(runs, run, retried))) continue;
    const output = (await runs.output(ref)) ?? {};
    return { kind: "succeeded", output, inputHash, reusedFrom: retried };
  }
  if (planned.cacheMs === null) return undefined;
  const output = await runs.cachedOutput(cacheKey(run, job, inputHash), now);
  return output === undefined ? undefined : { kind: "succeeded", output, inputHash, reusedFrom: "cache" };
}

/** Whether the run has the same definition and inputs as a run that did not succeed. */
async function isSameWork(runs: RunReader, run: RunRecord, id: string): Promise<boolean> {
  const retried = await runs.find(id);
  if (retried === undefined || retried.status === "succeeded" || retried.version !== run.version)
    return false;
  const [inputs, retriedInputs] = [await runs.inputs(run.id), await runs.inputs(id)];
  return canonicalJson([run.definition, inputs]) === canonicalJson([retried.definition, retriedInputs]);
}

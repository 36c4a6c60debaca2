/** Outputs that need not be worked out again. */
import { canonicalJson } from "../../core/canonical-json.ts";
import type { Job, RunReader, RunRecord } from "../../core/run-ports.ts";
import type { PlannedStep } from "../definition/plan.ts";
import type { StepResult } from "../run-state/step-result.ts";

/** What is cached is the same for every run of the workflow. */
export const cacheKey = (run: RunRecord, job: Job, inputHash: string): string =>
  `${run.workflowId} ${job.stepId} ${inputHash}`;

/** What a step gave before with the same input: in the run that this one repeats, or from the cache. */
export async function recordedOutput(
  runs: RunReader,
  { run, job, planned }: { run: RunRecord; job: Job; planned: PlannedStep },
  inputHash: string,
  now: string,
): Promise<StepResult | undefined> {
  // The run that this one repeats may itself have repeated one, and have been stopped before it came so far.
  for (let before = run.retryOf; before !== null; before = (await runs.find(before))?.retryOf ?? null) {
    const unit = { ...job, runId: before };
    const step = await runs.step(unit);
    if (step?.state !== "succeeded" || step.inputHash !== inputHash) continue;
    if (planned.type.runScoped === true && !(await isSameWork(runs, run, before))) continue;
    const output = (await runs.output(unit)) ?? {};
    return { kind: "succeeded", output, inputHash, reusedFrom: before };
  }
  if (planned.cacheMs === null) return undefined;
  const output = await runs.cachedOutput(cacheKey(run, job, inputHash), now);
  return output === undefined ? undefined : { kind: "succeeded", output, inputHash, reusedFrom: "cache" };
}

/** Whether this run does again what that one was to do, and did not come to its end. */
async function isSameWork(runs: RunReader, run: RunRecord, id: string): Promise<boolean> {
  const before = await runs.find(id);
  if (before === undefined || before.status === "succeeded" || before.version !== run.version) return false;
  const [now, then] = [await runs.inputs(run.id), await runs.inputs(id)];
  return canonicalJson([run.definition, now]) === canonicalJson([before.definition, then]);
}

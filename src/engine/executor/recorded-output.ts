/** Finds recorded outputs that a step can reuse instead of running again. */
import { DEFAULT_PROJECT } from "../../../schemas/project.ts";
import { encodeJson } from "../../core/encoded-json.ts";
import { canonicalJson } from "../../core/canonical-json.ts";
import type { RunRecord, StepRef } from "../../core/model.ts";
import type { RunReader } from "../../core/run-ports.ts";
import { shortHash } from "../../core/short-hash.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import { isSameWork, type Retry } from "../run-state/decisions-hold.ts";
import { wasUndone } from "./first-run-with-effect.ts";
import type { PlannedStep } from "../definition/plan.ts";
import type { StepResult } from "../run-state/step-result.ts";
import type { Attempt } from "./attempt.ts";

/**
 * Cached outputs are shared by all runs of a workflow, and by the single steps of one person. The iterations of a loop have one each, even with the same input:
 * a loop that polls would otherwise read its own first answer forever.
 * @param attempt with its input hash and facts
 * @param target the part of the configuration that decides what the step calls
 * @param view what the project may use, so that no output is reused where the step could not get it; empty for everything.
 *   A workflow that was moved reuses nothing of its former project either
 */
export const cacheKey = (
  { run, job, planned, inputHash, facts }: Attempt,
  target: unknown,
  view: string,
): string => {
  const otherProject = run.project === DEFAULT_PROJECT ? [] : [run.project];
  const iteration = planned.repeat === null ? "" : ` ${job.item}`;
  const hash = shortHash(
    canonicalJson([
      inputHash,
      target ?? null,
      facts ?? null,
      ...(view === "" ? [] : [view]),
      ...otherProject,
    ]),
  );
  const owner = run.workflowId ?? `step of ${usageSubjectOf(run.actor)}`;
  return `${owner} ${job.stepId}${iteration} ${hash}`;
};

/**
 * Whether the decisions of people that a recorded output rests on were made for what can run after the step now.
 * @param source where the output was recorded, by the step itself
 */
export type DecisionsHold = (run: Retry, source: StepRef) => Promise<boolean>;

/** A step of a run that retries another one, or an item of it. */
interface RetriedStep {
  run: Retry & Pick<RunRecord, "retryOf">;
  planned: Pick<PlannedStep, "type" | "step" | "repeat">;
  item: number | null;
}

/**
 * Decides whether a retry reuses the output of a step or item, and from which run. The plan of a retry asks it too.
 * @param from the only run that the output may come from; left out, any of those that are retried
 * @returns undefined if no run has it; null if the step has to run even where the cache has an output
 */
export async function findRecorded(
  {
    runs,
    decisionsHold,
  }: { runs: Pick<RunReader, "find" | "step" | "inputs">; decisionsHold: DecisionsHold },
  { run, planned, item }: RetriedStep,
  inputHash: string,
  from?: string,
): Promise<StepRef | null | undefined> {
  if (planned.type.isReusable?.(planned.step) === false) return null;
  // The retried run may itself be a retry that was stopped before it reached this step.
  for (let next = run.retryOf; next !== null;) {
    const retried = next;
    const earlier = await runs.find(retried);
    next = earlier?.retryOf ?? null;
    // The workflow was moved. What the connections of another project returned stays there, as cached outputs do.
    if (earlier?.project !== run.project) continue;
    if (from !== undefined && from !== retried) continue;
    if (planned.repeat !== null && (await wasExhausted(runs, retried, planned))) return null;
    const ref = { runId: retried, stepId: planned.step.id, item };
    // The output of a step that was undone no longer says what there is, nor do those of earlier runs.
    if (await wasUndone(runs, ref)) break;
    const step = await runs.step(ref);
    if (step?.state !== "succeeded" || step.inputHash !== inputHash) continue;
    if (planned.type.runScoped === true && !(await isSameWork(runs, run, earlier))) continue;
    if (planned.type.mayRestOnDecision === true && !(await decisionsHold(run, ref))) continue;
    return ref;
  }
  return undefined;
}

/**
 * Finds the output of the same step with the same input, in a run that this one retries or in the cache.
 * @param now ISO 8601; cached outputs that have expired by then are ignored
 */
export async function recordedOutput(
  { runs, decisionsHold }: { runs: RunReader; decisionsHold: DecisionsHold },
  attempt: Attempt,
  inputHash: string,
  now: string,
): Promise<StepResult | undefined> {
  const { run, job, planned } = attempt;
  const source = await iterationSource(runs, attempt);
  if (source === null) return undefined;
  const step = { run, planned, item: job.item };
  const ref = await findRecorded({ runs, decisionsHold }, step, inputHash, source);
  if (ref === null) return undefined;
  if (ref !== undefined) {
    const output = (await runs.outputJson(ref)) ?? encodeJson({});
    return { kind: "succeeded", output, inputHash, reusedFrom: ref.runId };
  }
  const { cacheKey: key } = attempt;
  if (key === undefined || (source !== undefined && source !== CACHE)) return undefined;
  const output = await runs.cachedOutput(key, now);
  return output === undefined ? undefined : { kind: "succeeded", output, inputHash, reusedFrom: CACHE };
}

/** The source of outputs that come from the cache. */
const CACHE = "cache";

/**
 * An iteration reuses an output only from where the iteration before it did: once one has run, those after it run too.
 * @returns the run, or `cache`; null when nothing may be reused; undefined when everything may be
 */
async function iterationSource(
  runs: Pick<RunReader, "step">,
  { run, job, planned }: Attempt,
): Promise<string | null | undefined> {
  if (planned.repeat === null || job.item === null || job.item === 0) return undefined;
  const before = await runs.step({ runId: run.id, stepId: job.stepId, item: job.item - 1 });
  return before?.reusedFrom ?? null;
}

/** Whether a loop reached its maximum, which is no higher now: reusing all iterations would only repeat the failure. */
async function wasExhausted(
  runs: Pick<RunReader, "step">,
  runId: string,
  { step, repeat }: RetriedStep["planned"],
): Promise<boolean> {
  const record = await runs.step({ runId, stepId: step.id, item: null });
  return record?.error?.code === "repeat_exhausted" && (record.items?.done ?? 0) >= repeat!.max;
}

/** Finds the runs that recorded outputs of a fan-out for the input that it has in a retry. */
import { canonicalJson } from "../../core/canonical-json.ts";
import type { RunRecord } from "../../core/model.ts";
import type { RunReader } from "../../core/run-ports.ts";
import type { DefinitionCache } from "../definition/compiled-definition.ts";
import type { StepDefinition } from "../../../schemas/workflow-definition.ts";
import { isSameStep, referencesOf } from "./references.ts";

interface Readers {
  runs: Pick<RunReader, "find" | "inputs" | "step" | "versionDefinition">;
  definitionCache: DefinitionCache;
}

/**
 * @param run the run to retry, in which the step had the same input
 * @returns its id, and those of the runs that it retries as long as the step surely had this input in them too
 */
export async function runsWithSameInput(
  options: Readers,
  run: RunRecord,
  step: StepDefinition,
): Promise<string[]> {
  const ids = [run.id];
  for (let later = run; later.retryOf !== null;) {
    const earlier = await options.runs.find(later.retryOf);
    if (earlier === undefined || !(await hadSameInput(options, { later, earlier }, step))) break;
    ids.push(earlier.id);
    later = earlier;
  }
  return ids;
}

async function hadSameInput(
  { runs, definitionCache }: Readers,
  { later, earlier }: { later: RunRecord; earlier: RunRecord },
  step: StepDefinition,
): Promise<boolean> {
  if (later.project !== earlier.project) return false;
  const { steps } = (await definitionCache.get(earlier, runs)).definition;
  const same = steps.find(({ id }) => id === step.id);
  if (!isSameStep(same, step)) return false;
  const { steps: reads, inputs } = referencesOf(step);
  if (inputs && canonicalJson(await runs.inputs(later.id)) !== canonicalJson(await runs.inputs(earlier.id)))
    return false;
  for (const stepId of reads) {
    // Reused from another run than this one, or from the cache, it may be another output. The items of a fan-out may come from several.
    const record = await runs.step({ runId: later.id, stepId, item: null });
    if (record?.reusedFrom !== earlier.id) return false;
  }
  return true;
}

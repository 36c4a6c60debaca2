/** What a retry asks for, for one run and for each of a bulk action. */
import type { RunRequest } from "../../core/engine-port.ts";
import type { RunRecord, Trial } from "../../core/model.ts";
import type { RunReader } from "../../core/run-ports.ts";

/** Who starts a retry, and how. */
type StartedBy = Pick<RunRequest, "caller" | "keyLimits" | "actor" | "trigger" | "trace" | "maxPriority">;

/** What it does otherwise than the run; each left out, as the run. */
interface Changes {
  version?: number | null | undefined;
  definition?: Record<string, unknown> | undefined;
  inputs?: Readonly<Record<string, unknown>> | undefined;
}

/** The request that repeats an ended run. The retry of a trial is a trial with the same given outputs. */
export async function retryRequest(
  runs: Pick<RunReader, "inputs" | "trial">,
  run: RunRecord,
  by: StartedBy,
  { version, definition, inputs }: Changes = {},
): Promise<RunRequest> {
  const trial = await runs.trial(run.id);
  const request = {
    ...by,
    inputs: inputs ?? (await runs.inputs(run.id)),
    areInputsStored: inputs === undefined,
    retryOf: run,
    ...(trial !== null && { trial: definition === undefined ? trial : trialOf(trial, definition) }),
    ...(run.scheduledFor !== null && { scheduledFor: run.scheduledFor }),
  };
  const { workflowId } = run;
  if (workflowId === null)
    return { ...request, workflowId, project: run.project, definition: run.definition! };
  const followed = definition ?? (typeof version === "number" ? null : run.definition);
  return {
    ...request,
    workflowId,
    version: version ?? run.version,
    ...(followed !== null && { definition: followed }),
  };
}

/** A trial of a changed definition, as far as that still has the steps. What an example asserts may read steps that are gone. */
function trialOf({ given }: Trial, definition: Record<string, unknown>): Trial {
  const steps = (definition["steps"] ?? []) as readonly { id: string }[];
  const kept = steps.flatMap(({ id }) => (Object.hasOwn(given, id) ? [[id, given[id]!] as const] : []));
  return { given: Object.fromEntries(kept) };
}

/** What a retry asks for, for one run and for each of a bulk action. */
import type { EngineApi, RunRequest } from "../../core/engine-port.ts";
import { AppError, type ErrorCode, isStorageUnavailable } from "../../core/errors.ts";
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

/** Errors that say nothing about a run: nothing can start now, and later it may. */
const PASSING: ReadonlySet<ErrorCode> = new Set(["too_many_runs", "rate_limited"]);

/** Whether a retry that can't start now may start later, although nothing about the run has changed. */
export const isPassing = (error: AppError): boolean => PASSING.has(error.code) || isStorageUnavailable(error);

/** Errors that other retries of the same version have too, whatever their inputs. */
const OF_VERSION: ReadonlySet<ErrorCode> = new Set([
  "workflow_not_found",
  "workflow_archived",
  "version_not_found",
  "workflow_not_runnable",
]);

/**
 * Prepares retries of several runs. A version that can't run is checked once, which may ask the databases that it reads.
 * @throws what `prepareRun` throws
 */
export function retryPreparer(
  prepareRun: EngineApi["prepareRun"],
): (request: RunRequest) => ReturnType<EngineApi["prepareRun"]> {
  const refused = new Map<string, AppError>();
  return async (request) => {
    const { workflowId, definition } = request;
    const version =
      workflowId === null || definition !== undefined ? undefined : `${request.version} ${workflowId}`;
    const known = version === undefined ? undefined : refused.get(version);
    if (known !== undefined) throw known;
    try {
      return await prepareRun(request);
    } catch (error) {
      if (version !== undefined && error instanceof AppError && OF_VERSION.has(error.code))
        refused.set(version, error);
      throw error;
    }
  };
}

/** What a caller sees of a plan: nothing of the workflows and runs that they can't find. */
import type { ApprovalPlan } from "../../schemas/approval.ts";
import type { WorkflowReader } from "./ports.ts";
import type { RunReader } from "./run-ports.ts";

type PlannedWorkflow = ApprovalPlan["workflows"][number];

/** Whether somebody can find a workflow, and a run. */
export interface PlanSight {
  workflow(id: string): Promise<boolean>;
  run(id: string): Promise<boolean>;
}

/** What the caller of a request can find. @param limited the readers of the request */
export const sightOfCaller = ({
  workflows,
  runs,
}: {
  workflows: Pick<WorkflowReader, "projectOf">;
  runs: Pick<RunReader, "getStatusSummaries">;
}): PlanSight => ({
  workflow: async (id) => (await workflows.projectOf(id)) !== undefined,
  // `find` refuses a run that the caller may read but not do the operation with.
  run: async (id) => (await runs.getStatusSummaries([id])).length > 0,
});

/** What belongs to a project, for messages that go to its members. */
export const sightOfProject = (
  read: { workflows: Pick<WorkflowReader, "projectOf">; runs: Pick<RunReader, "find"> },
  project: string,
): PlanSight => ({
  workflow: async (id) => (await read.workflows.projectOf(id)) === project,
  run: async (id) => (await read.runs.find(id))?.project === project,
});

/**
 * A plan without the steps of workflows that somebody can't see, and without those that only these call. Of the runs that wait, the
 * one that called the run shows its id alone, and those above it nothing.
 */
export async function visiblePlan(
  workflows: readonly PlannedWorkflow[],
  sight: PlanSight,
): Promise<PlannedWorkflow[]> {
  const seen = new Set<PlannedWorkflow>();
  for (const planned of workflows) if (await isSeen(planned, sight)) seen.add(planned);
  const called = new Set([...seen].flatMap(callsOf));
  const caller = workflows.find(({ role }) => role === "parent");
  return workflows.flatMap((planned): PlannedWorkflow[] => {
    const { workflow_id: id, version, role, run_id: runId } = planned;
    if (seen.has(planned)) return [planned];
    if (role === "parent")
      return planned === caller
        ? [{ workflow_id: null, version: null, role, run_id: runId, foreign: true, steps: [] }]
        : [];
    if (id === null || !called.has(id)) return [];
    return [version === null ? planned : { workflow_id: id, version, role, foreign: true, steps: [] }];
  });
}

/** Who reads a plan can see what it is about. */
async function isSeen(
  { workflow_id: id, role, run_id: runId }: PlannedWorkflow,
  sight: PlanSight,
): Promise<boolean> {
  if (role === "parent") return sight.run(runId!);
  return role !== "called" || sight.workflow(id!);
}

const callsOf = ({ on_failure: onFailure, steps }: PlannedWorkflow): string[] => [
  ...(onFailure === undefined ? [] : [onFailure]),
  ...steps.flatMap(({ does, targets = [] }) => (does === "runs" ? targets : [])),
];

/** What runs read of the state of their workflow when they are admitted, and what they commit when they succeed. */
import type { Definition } from "../../../schemas/workflow-definition.ts";
import type { NewRun, RunRecord } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import { StepError } from "../../core/step-errors.ts";
import { stateValues } from "../../core/workflow-state.ts";
import { FIRST_STATE_REVISION } from "../../core/workflow-state-ports.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import { ancestorsOf } from "./ancestors.ts";

type Snapshot = Pick<NewRun, "state" | "stateRevision">;

/** The snapshot of a run that is not admitted yet, or whose workflow declares no state. */
export const NO_SNAPSHOT: Snapshot = { state: null, stateRevision: null };

/**
 * Takes the snapshot of a run that is admitted now. A trial has no revision, so it commits nothing; those of examples, and the
 * runs that they start, begin with the defaults. So do runs whose workflow was moved before they were admitted: its state
 * belongs to the other project.
 */
export async function takeSnapshot(
  tx: EngineWriters,
  run: Pick<RunRecord, "workflowId" | "project" | "trigger" | "isTrial" | "replay" | "parent">,
  { state: declaration }: Definition,
): Promise<Snapshot> {
  if (declaration === undefined || run.workflowId === null) return NO_SNAPSHOT;
  const { workflowId, project, replay } = run;
  // Its own state is another one by now.
  if (replay !== null)
    return {
      state: stateValues(declaration, (await tx.runs.state(replay.runId)) ?? {}),
      stateRevision: null,
    };
  if ((await isMoved(tx, { workflowId, project })) || (await belongsToExample(tx, run)))
    return { state: stateValues(declaration, {}), stateRevision: null };
  const stored = await tx.workflowStates.find(workflowId);
  return {
    state: stateValues(declaration, stored?.values ?? {}),
    stateRevision: run.isTrial ? null : (stored?.revision ?? FIRST_STATE_REVISION),
  };
}

/** Whether the workflow of a run belongs to another project than the run. */
const isMoved = async (
  tx: EngineWriters,
  { workflowId, project }: Pick<RunRecord, "project"> & { workflowId: string },
): Promise<boolean> => (await tx.workflowStates.projectOf(workflowId)) !== project;

async function belongsToExample(
  tx: EngineWriters,
  run: Pick<RunRecord, "trigger" | "parent">,
): Promise<boolean> {
  if (run.trigger === "example") return true;
  for await (const ancestor of ancestorsOf(tx, run)) if (ancestor.trigger === "example") return true;
  return false;
}

/**
 * Commits values to the state of a run's workflow; its other keys keep theirs.
 * @param at the present time (ISO 8601)
 * @returns the error of the run when the state was written since its snapshot, or belongs to another project; then nothing is
 *   written
 */
export async function commitState(
  tx: EngineWriters,
  run: Pick<RunRecord, "id" | "workflowId" | "project" | "actor" | "stateRevision">,
  committed: Readonly<Record<string, unknown>>,
  at: string,
): Promise<StepError | undefined> {
  const { workflowId, project } = run;
  // A single step commits nothing.
  if (workflowId === null) return undefined;
  if (await isMoved(tx, { workflowId, project })) return movedConflict(workflowId);
  // Trials have no revision.
  if (run.stateRevision === null) return undefined;
  const stored = await tx.workflowStates.find(workflowId);
  const values = { ...stored?.values, ...committed };
  const change = { kind: "commit", keyName: null, reason: null } as const;
  const state = { values, updatedAt: at, updatedBy: run.id, change };
  const subject = usageSubjectOf(run.actor);
  if (await tx.workflowStates.replace(workflowId, run.stateRevision, state, subject)) return undefined;
  return new StepError(
    "state_conflict",
    `The state of "${workflowId}" was written since this run read it (revision ${run.stateRevision}), so its commit ` +
      "was refused and nothing was written.",
    {
      fix:
        "Retry the run (retry_run): it reads the present state. To run one at a time, set concurrency: 1 at the top of " +
        "the definition.",
      details: { revision: run.stateRevision, present_revision: stored?.revision ?? FIRST_STATE_REVISION },
    },
  );
}

const movedConflict = (workflowId: string): StepError =>
  new StepError(
    "state_conflict",
    `"${workflowId}" was moved to another project after this run had started. Its state belongs to that project, so the commit ` +
      "was refused and nothing was written.",
    { fix: "Run the workflow in its project." },
  );

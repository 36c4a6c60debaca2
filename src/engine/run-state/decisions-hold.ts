/** Whether a retry can reuse an output that rests on the decision of a person: only for the work that was decided on. */
import { canonicalJson } from "../../core/canonical-json.ts";
import { GIVEN, type NewRun, type RunRecord, type StepRef } from "../../core/model.ts";
import type { ViewedProjects } from "../../core/connection-views.ts";
import type { ApprovalReader } from "../../core/approval-ports.ts";
import type { RunReader } from "../../core/run-ports.ts";
import type { WorkflowReader } from "../../core/ports.ts";
import type { PreparedRun } from "../../core/engine-port.ts";
import type { AnyStepType } from "../../core/step-type.ts";
import type { DefinitionCache } from "../definition/compiled-definition.ts";
import type { RemainingWorkReader } from "./remaining-work.ts";

interface Readers {
  runs: Pick<RunReader, "find" | "inputs" | "step" | "versionDefinition">;
  approvals: Pick<ApprovalReader, "decisionsOf">;
  workflows: Pick<WorkflowReader, "currentVersions" | "projectOf">;
  projects: ViewedProjects;
}

/** A run that retries another one; its inputs are read if they are left out. */
export type Retry = Pick<
  RunRecord,
  "id" | "project" | "workflowId" | "version" | "definition" | "pins" | "parent"
> &
  Partial<Pick<NewRun, "inputs">>;

/**
 * Returns a function that compares what can run after a step with what could when its decisions were made: in the run of
 * the step, which is also what follows on the decisions of runs that the step started. A step without decisions passes.
 */
export function decisionsHold(
  read: Readers,
  remainingWork: RemainingWorkReader,
): (retry: Retry, recorded: Omit<StepRef, "item"> & { item?: number | null }) => Promise<boolean> {
  return async (retry, recorded) => {
    const source = await sourceOf(read.runs, recorded);
    const decisions = await read.approvals.decisionsOf(source);
    if (decisions.length === 0) return true;
    if (!(await isSameWork(read.runs, retry, await read.runs.find(source.runId)))) return false;
    const digest = await remainingWork.digestAfter(read, retry, source.stepId);
    return decisions.every(({ plan, depth }) => plan?.[depth] === digest);
  };
}

/** Sources of an output that are not runs. */
const NO_RUN: ReadonlySet<string> = new Set(["cache", GIVEN]);

/** Follows an output that was reused to the run in which the step has run. */
async function sourceOf<Ref extends Omit<StepRef, "item"> & { item?: number | null }>(
  runs: Pick<RunReader, "step">,
  ref: Ref,
): Promise<Ref> {
  for (let source = ref; ;) {
    const step = await runs.step({ ...source, item: source.item ?? null });
    if (step === undefined || step.reusedFrom === null || NO_RUN.has(step.reusedFrom)) return source;
    source = { ...source, runId: step.reusedFrom };
  }
}

/** Whether a run has the same definition and inputs as one that it retries and that did not succeed. */
export async function isSameWork(
  runs: Pick<RunReader, "inputs">,
  retry: Retry,
  retried: RunRecord | undefined,
): Promise<boolean> {
  if (retried === undefined || retried.status === "succeeded" || retried.version !== retry.version)
    return false;
  const inputs = retry.inputs ?? (await runs.inputs(retry.id));
  return (
    canonicalJson([retry.definition, inputs]) ===
    canonicalJson([retried.definition, await runs.inputs(retried.id)])
  );
}

interface DecisionOptions {
  definitionCache: DefinitionCache;
  stepTypes: readonly AnyStepType[];
  remainingWork: RemainingWorkReader;
}

/** The steps of a retry whose recorded outputs it can't reuse, because they rest on decisions for other work. */
export async function outdatedDecisions(
  read: Readers,
  { definitionCache, stepTypes, remainingWork }: DecisionOptions,
  retried: RunRecord,
  retry: PreparedRun,
): Promise<ReadonlySet<string>> {
  const { definition } = await definitionCache.get(retry, read.runs);
  const deciding = new Set(
    stepTypes.flatMap(({ type, mayRestOnDecision }) => (mayRestOnDecision ? [type] : [])),
  );
  const candidates = definition.steps.filter(({ type }) => deciding.has(type));
  const hold = decisionsHold(read, remainingWork);
  const outdated = new Set<string>();
  for (let run: RunRecord | undefined = retried; run !== undefined;) {
    for (const { id: stepId } of candidates)
      if (!outdated.has(stepId) && !(await hold(retry, { runId: run.id, stepId }))) outdated.add(stepId);
    run = run.retryOf === null ? undefined : await read.runs.find(run.retryOf);
  }
  return outdated;
}

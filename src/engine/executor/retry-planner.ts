/** Plans retries of recorded runs: for the answer before one starts, and for each run of a bulk action. */
import type { ViewedProjects } from "../../core/connection-views.ts";
import type { StepDefinition } from "../../../schemas/workflow-definition.ts";
import { canonicalJson } from "../../core/canonical-json.ts";
import type { EngineApi, RetryPlan } from "../../core/engine-port.ts";
import type { InterruptionRecord } from "../../core/interruption-ports.ts";
import type { RunRecord, StepRecord } from "../../core/model.ts";
import type { EngineReaders } from "../../core/run-ports.ts";
import type { WorkflowReader } from "../../core/ports.ts";
import type { AnyStepType } from "../../core/step-type.ts";
import type { Engine } from "../engine.ts";
import { decisionsHold, outdatedDecisions } from "../run-state/decisions-hold.ts";
import { itemsToRun } from "./reused-items.ts";
import { type FanOutRecord, planRetry } from "./retry-plan.ts";
import { runsWithSameInput } from "./same-input.ts";

type Read = Pick<EngineReaders, "runs" | "approvals" | "interruptions"> & {
  workflows: WorkflowReader;
  projects: ViewedProjects;
};

export function retryPlanner(
  read: Read,
  { context: { definitionCache }, remainingWork }: Pick<Engine, "context" | "remainingWork">,
  stepTypes: readonly AnyStepType[],
): EngineApi["planRetry"] {
  const { runs } = read;
  return async (retried, retry) => {
    const [original, definition, records, inputs, outdated] = await Promise.all([
      definitionCache.get(retried, runs),
      definitionCache.get(retry, runs),
      runs.steps(retried.id),
      runs.inputs(retried.id),
      outdatedDecisions(read, { definitionCache, stepTypes, remainingWork }, retried, retry),
    ]);
    const isGiven = (id: string): boolean => retry.trial !== null && Object.hasOwn(retry.trial.given, id);
    const planItems = async (step: StepDefinition, { items: { total } }: FanOutRecord) => {
      if (isGiven(step.id)) return [];
      const type = stepTypes.find((one) => one.type === step.type)!;
      const sameInput = await runsWithSameInput({ runs, definitionCache }, retried, step);
      const readers = { runs, decisionsHold: decisionsHold(read, remainingWork) };
      return itemsToRun(readers, type, retry, { step, total, sameInput });
    };
    const plan = await planRetry(
      retried.id,
      { definition: original.definition, records },
      {
        definition: definition.definition,
        inputsChanged: canonicalJson(retry.inputs) !== canonicalJson(inputs),
        isMoved: retry.project !== retried.project,
        outdated,
        interrupted: await interruptedSteps(read, retried, records),
        itemsToRun: planItems,
      },
      stepTypes,
    );
    return retry.trial === null ? plan : ofTrial(plan, isGiven);
  };
}

/** The interruptions of steps that did not succeed. */
async function interruptedSteps(
  read: Pick<Read, "runs" | "interruptions">,
  retried: RunRecord,
  records: readonly StepRecord[],
): Promise<Map<string, InterruptionRecord>> {
  const found = new Map<string, InterruptionRecord>();
  for (const { stepId, state, items } of records) {
    const interruption =
      state === "succeeded" || items !== null ? undefined : await interruptionOfStep(read, retried, stepId);
    if (interruption !== undefined) found.set(stepId, interruption);
  }
  return found;
}

/** The interruption of a step in a run, or in the one that it retries where the step ended because of that one. */
async function interruptionOfStep(
  read: Pick<Read, "runs" | "interruptions">,
  run: RunRecord,
  stepId: string,
): Promise<InterruptionRecord | undefined> {
  const ref = { runId: run.id, stepId, item: null };
  const own = await read.interruptions.latest(ref);
  if (own !== undefined) {
    // Of several attempts with one key, one that happened counts.
    const ofKey = await read.interruptions.ofKey(own.idempotencyKey);
    return ofKey.find(({ outcome, project }) => outcome === "happened" && project === run.project) ?? own;
  }
  if (run.retryOf === null) return undefined;
  const step = await read.runs.step(ref);
  const earlier = step?.error?.code === "interrupted" ? await read.runs.find(run.retryOf) : undefined;
  return earlier && interruptionOfStep(read, earlier, stepId);
}

/** A trial has no effects to repeat. */
const ofTrial = (plan: RetryPlan, isGiven: (id: string) => boolean): RetryPlan => ({
  reused: plan.reused.filter((id) => !isGiven(id)),
  run: plan.run.filter((id) => !isGiven(id)),
  effects: [],
  again: [],
  items: new Map([...plan.items].filter(([id]) => !isGiven(id))),
  issues: [],
});

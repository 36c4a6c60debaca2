/** Plans retries of recorded runs: for the answer before one starts, and for each run of a bulk action. */
import type { StepDefinition } from "../../../schemas/workflow-definition.ts";
import { canonicalJson } from "../../core/canonical-json.ts";
import type { EngineApi, RetryPlan } from "../../core/engine-port.ts";
import type { RunRecord, StepRecord } from "../../core/model.ts";
import type { EngineReaders } from "../../core/run-ports.ts";
import type { WorkflowReader } from "../../core/ports.ts";
import type { AnyStepType } from "../../core/step-type.ts";
import type { Engine } from "../engine.ts";
import { decisionsHold, outdatedDecisions } from "../run-state/decisions-hold.ts";
import { canBeInterrupted, earlierInterruption } from "./interrupted-effect.ts";
import { itemsToRun } from "./reused-items.ts";
import { type FanOutRecord, planRetry } from "./retry-plan.ts";
import { runsWithSameInput } from "./same-input.ts";

type Read = Pick<EngineReaders, "runs" | "approvals" | "interruptions"> & { workflows: WorkflowReader };

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
        happened: await stepsThatHappened(read, stepTypes, retried, {
          steps: definition.definition.steps,
          records,
        }),
        itemsToRun: planItems,
      },
      stepTypes,
    );
    return retry.trial === null ? plan : ofTrial(plan, isGiven);
  };
}

/** The steps whose interrupted effects happened, as a lookup or a person has found out: a retry takes what they returned. */
async function stepsThatHappened(
  read: Pick<Read, "runs" | "interruptions">,
  stepTypes: readonly AnyStepType[],
  retried: RunRecord,
  { steps, records }: { steps: readonly StepDefinition[]; records: readonly StepRecord[] },
): Promise<Set<string>> {
  const attempted = new Set(records.filter(({ state }) => state !== "succeeded").map(({ stepId }) => stepId));
  const happened = new Set<string>();
  for (const step of steps) {
    if (!attempted.has(step.id)) continue;
    const type = stepTypes.find((one) => one.type === step.type);
    if (type === undefined || !canBeInterrupted({ type, step })) continue;
    const repeated = { id: "", retryOf: retried.id };
    const found = await earlierInterruption(read, repeated, { stepId: step.id, item: null });
    if (found?.outcome === "happened") happened.add(step.id);
  }
  return happened;
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

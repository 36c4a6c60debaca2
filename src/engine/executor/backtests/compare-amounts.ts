/** What the steps of a run cost, and what those of its replay would: a reused output costs what it did. */
import type { BacktestDetails } from "../../../core/backtest-ports.ts";
import type { RunReader } from "../../../core/run-ports.ts";
import { isWaitingStepType } from "../../../../schemas/waiting-step-types.ts";
import { type Execution, executionsOf, type Recorded } from "./executions.ts";

/** Maximum number of attempts of a step whose usage is added up. */
const MAX_ATTEMPTS = 20;

type Amounts = Pick<BacktestDetails, "stepMs" | "tokens" | "cost">;

export async function compareAmounts(runs: RunReader, before: Recorded, after: Recorded): Promise<Amounts> {
  const [was, is] = [await runs.usage(before.run.id), await runs.usage(after.run.id)];
  const sum = { tokens: 0, cost: 0 };
  if (was !== null) {
    // What the replay reused, the run has paid for.
    for (const { step, type } of after.plan.steps) {
      if (type.meteredResource?.(step) !== "model_tokens") continue;
      for await (const execution of executionsOf(runs, after, step.id)) {
        if (execution.record.reusedFrom !== before.run.id) continue;
        for (const { usage } of await runs.lastAttempts(
          { ...execution.ref, runId: before.run.id },
          MAX_ATTEMPTS,
        )) {
          sum.tokens += (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
          sum.cost += usage?.cost ?? 0;
        }
      }
    }
  }
  const reuse = await runs.itemReuse(after.run.id);
  const isReused = ({ ref, record }: Execution): boolean =>
    record.items === null ? record.reusedFrom === before.run.id : reuse.get(ref.stepId)?.executed === 0;
  const tokensOf = (usage: typeof was): number => (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
  return {
    stepMs: {
      before: totalMs(before, (execution) => duration(execution)),
      after: totalMs(after, (execution) =>
        duration(
          isReused(execution)
            ? { ...execution, record: before.steps.get(execution.ref.stepId) ?? execution.record }
            : execution,
        ),
      ),
    },
    tokens: { before: tokensOf(was), after: tokensOf(is) + sum.tokens },
    cost: { before: was?.cost ?? 0, after: (is?.cost ?? 0) + sum.cost },
  };
}

/** Steps that compute take what the machine takes at that moment, and waits are no work. */
function totalMs({ run, plan, steps }: Recorded, msOf: (execution: Execution) => number): number {
  return plan.steps.reduce((sum, { step, type }) => {
    const record = steps.get(step.id);
    if (record === undefined || isWaitingStepType(step.type) || type.compute !== undefined) return sum;
    return sum + msOf({ ref: { runId: run.id, stepId: step.id, item: null }, record });
  }, 0);
}

const duration = ({ record: { startedAt, finishedAt } }: Execution): number =>
  startedAt === null || finishedAt === null ? 0 : Date.parse(finishedAt) - Date.parse(startedAt);

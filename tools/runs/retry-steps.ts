/** What a retry has done with its steps, from their records. */
import { NAMED_ITEMS, type RetrySteps } from "../../schemas/run.ts";
import { GIVEN, type RunRecord, type StepRecord } from "../../src/core/model.ts";
import type { ItemReuse } from "../../src/core/run-ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { itemReuse } from "./item-reuse.ts";

/**
 * Returns which steps of an ended retry were reused, which ran, and which of those have effects. A fan-out is reused when all
 * of its items are. Steps that were skipped, cancelled before they started, or given are in none of the lists.
 */
export async function retrySteps(
  ctx: Pick<ToolContext, "read" | "engine">,
  run: RunRecord,
): Promise<RetrySteps> {
  const { steps } = await ctx.engine.getDefinition(run);
  const records = new Map((await ctx.read.runs.steps(run.id)).map((record) => [record.stepId, record]));
  const types = new Map(ctx.engine.stepTypes.map((type) => [type.type, type]));
  const result: RetrySteps = { reused: [], run: [], effects: [] };
  const items: NonNullable<RetrySteps["items"]> = {};
  const reuse = await itemReuse(ctx, run.id);
  for (const step of steps) {
    const counts = reuse.get(step.id);
    const how = howItEnded(records.get(step.id), counts);
    if (how === undefined) continue;
    result[how].push(step.id);
    if (how === "reused") continue;
    if (counts !== undefined && step.for_each !== undefined)
      items[step.id] = {
        reused: counts.reused,
        run: counts.executed,
        first: await ctx.read.runs.executedItems({ runId: run.id, stepId: step.id }, NAMED_ITEMS),
      };
    // A trial refuses them.
    if (!run.isTrial && types.get(step.type)?.hasEffects(step) === true) result.effects.push(step.id);
  }
  return { ...result, ...(Object.keys(items).length > 0 && { items }) };
}

function howItEnded(
  record: StepRecord | undefined,
  counts: ItemReuse | undefined,
): "reused" | "run" | undefined {
  if (record === undefined || record.state === "skipped" || record.reusedFrom === GIVEN) return undefined;
  if (record.items === null)
    return record.reusedFrom !== null ? "reused" : record.attempts > 0 ? "run" : undefined;
  if (counts === undefined) return undefined;
  return counts.executed > 0 ? "run" : counts.reused > 0 ? "reused" : undefined;
}

/** What a retry has done with its steps, from their records. */
import type { RetrySteps } from "../../schemas/run.ts";
import { GIVEN, type RunRecord, type StepRecord } from "../../src/core/model.ts";
import type { ToolContext } from "../../src/core/tool.ts";

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
  for (const step of steps) {
    const how = await howItEnded(ctx, run.id, records.get(step.id));
    if (how === undefined) continue;
    result[how].push(step.id);
    // A trial refuses them.
    if (how === "run" && !run.isTrial && types.get(step.type)?.hasEffects(step) === true)
      result.effects.push(step.id);
  }
  return result;
}

async function howItEnded(
  { read: { runs } }: Pick<ToolContext, "read">,
  runId: string,
  record: StepRecord | undefined,
): Promise<"reused" | "run" | undefined> {
  if (record === undefined || record.state === "skipped" || record.reusedFrom === GIVEN) return undefined;
  if (record.items === null)
    return record.reusedFrom !== null ? "reused" : record.attempts > 0 ? "run" : undefined;
  if (await runs.hasExecutedItem({ runId, stepId: record.stepId })) return "run";
  return record.items.done > 0 ? "reused" : undefined;
}

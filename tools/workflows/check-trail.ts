import type { CheckOptions } from "../../src/core/engine-port.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { type CheckedDefinition, readDefinition } from "./check-definition.ts";
import { type Guess, workflowFromTrail } from "./from-trail.ts";
import type { TrailStep } from "./read-trail.ts";

/**
 * Makes a definition from a trail and checks it. Where a query is not accepted with parameters instead of its values, the
 * queries stay as they were tried.
 * @throws AppError those of readDefinition
 */
export async function checkTrail(
  ctx: ToolContext,
  steps: readonly TrailStep[],
  options: Pick<CheckOptions, "project" | "applyFixes">,
): Promise<CheckedDefinition & { guesses: Guess[] }> {
  const made = workflowFromTrail(steps, ctx.engine.stepTypes);
  const checked = await readDefinition(ctx, made.definition, options);
  if (checked.issues.length === 0 || !made.hasChangedQuery) return { ...checked, guesses: made.guesses };
  const unchanged = workflowFromTrail(steps, ctx.engine.stepTypes, { keepQueries: true });
  return {
    ...(await readDefinition(ctx, unchanged.definition, options)),
    guesses: unchanged.guesses,
  };
}

/** The dependency graph of the steps of a definition, by position in the list. */
import type { StepDefinition } from "../../../schemas/workflow-definition.ts";

export interface Graph {
  /** For each step, the positions of the steps that it waits for. */
  needs: readonly (readonly number[])[];
  /** For each step, the positions of the steps that wait for it. */
  dependents: readonly (readonly number[])[];
}

/**
 * Returns the ids that a step waits for: its `needs`, or the step before it.
 * @param index its position in `steps`
 */
function needsOf(steps: readonly Pick<StepDefinition, "id" | "needs">[], index: number): readonly string[] {
  const { needs } = steps[index]!;
  if (needs !== undefined) return needs;
  return index === 0 ? [] : [steps[index - 1]!.id];
}

/** @param steps must have unique ids; `needs` that do not exist are ignored */
export function graphOf(steps: readonly Pick<StepDefinition, "id" | "needs">[]): Graph {
  const position = new Map(steps.map((step, index) => [step.id, index]));
  const dependents: number[][] = steps.map(() => []);
  const needs = steps.map((_, index) => {
    const positions = new Set(
      needsOf(steps, index).flatMap((id) => (position.has(id) ? [position.get(id)!] : [])),
    );
    for (const need of positions) dependents[need]!.push(index);
    return [...positions];
  });
  return { needs, dependents };
}

/** Returns the positions of all direct and indirect dependencies of a step. */
export function ancestorsOf({ needs }: Pick<Graph, "needs">, index: number): Set<number> {
  const found = new Set<number>();
  const queue = [...needs[index]!];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    queue.push(...needs[next]!);
  }
  return found;
}

/** The dependencies of a definition's steps, by position in the list. */
import type { StepDefinition } from "../../../schemas/workflow-definition.ts";

export interface Graph {
  /** For each step the positions of those it waits for. */
  needs: readonly (readonly number[])[];
  /** For each step the positions of those that wait for it. */
  dependents: readonly (readonly number[])[];
}

/**
 * The ids that a step waits for: its `needs`, else the step before it.
 * @param index its position in `steps`
 */
function needsOf(steps: readonly Pick<StepDefinition, "id" | "needs">[], index: number): readonly string[] {
  const { needs } = steps[index]!;
  if (needs !== undefined) return needs;
  return index === 0 ? [] : [steps[index - 1]!.id];
}

/** The graph of steps whose ids are unique and whose `needs` all exist; what does not exist is left out. */
export function graphOf(steps: readonly Pick<StepDefinition, "id" | "needs">[]): Graph {
  const position = new Map(steps.map((step, index) => [step.id, index]));
  const dependents: number[][] = steps.map(() => []);
  const needs = steps.map((_, index) => {
    const positions = new Set(
      needsOf(steps, index).flatMap((id) => (position.has(id) ? [position.get(id)!] : [])),
    );
    for (const before of positions) dependents[before]!.push(index);
    return [...positions];
  });
  return { needs, dependents };
}

/** All that come before a step, directly or not, by position. */
export function ancestorsOf({ needs }: Pick<Graph, "needs">, index: number): Set<number> {
  const found = new Set<number>();
  const left = [...needs[index]!];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    left.push(...needs[next]!);
  }
  return found;
}

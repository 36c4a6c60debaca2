/** The steps that a step depends on, directly and transitively. */
import type { GraphStep } from "../graph/steps.ts";

/** @returns the ids in the order of the definition; empty if no step has this id */
export function ancestorIds(steps: readonly GraphStep[], stepId: string): string[] {
  const needs = new Map(steps.map((step) => [step.id, step.needs]));
  const found = new Set<string>();
  const stack = [...(needs.get(stepId) ?? [])];
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    stack.push(...(needs.get(id) ?? []));
  }
  return steps.map(({ id }) => id).filter((id) => found.has(id));
}

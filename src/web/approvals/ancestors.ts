/** What a step builds on: the steps that it waits for, and those that they wait for. */
import type { GraphStep } from "../graph/steps.ts";

/** @returns their ids in the order of the definition; none where the step is not there */
export function ancestorIds(steps: readonly GraphStep[], stepId: string): string[] {
  const needs = new Map(steps.map((step) => [step.id, step.needs]));
  const found = new Set<string>();
  const open = [...(needs.get(stepId) ?? [])];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    open.push(...(needs.get(id) ?? []));
  }
  return steps.map(({ id }) => id).filter((id) => found.has(id));
}

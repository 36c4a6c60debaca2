/** Which outputs of an earlier test are still those of the draft. */
import { asList, asObject } from "../editor/path.ts";

/** What the outputs of steps depend on, as text to compare. */
export interface StepTexts {
  inputs: Record<string, unknown>;
  /** Each step in order, with its id, the ids that it waits for, and its definition. */
  steps: readonly { id: string; needs: readonly string[]; text: string }[];
}

export function stepTexts(
  definition: Readonly<Record<string, unknown>>,
  inputs: Record<string, unknown>,
): StepTexts {
  const listed = asList(definition["steps"]).map(asObject);
  return {
    inputs,
    steps: listed.map((step, index) => {
      const before = listed[index - 1]?.["id"];
      const needs = Array.isArray(step["needs"]) ? step["needs"] : before === undefined ? [] : [before];
      return { id: String(step["id"]), needs: needs.map(String), text: JSON.stringify(step) };
    }),
  };
}

interface Comparison {
  before: StepTexts;
  now: StepTexts;
  /** The steps that have an output in the earlier test. */
  succeeded: readonly string[];
  /** The step that is tested next. */
  stepId: string;
}

/** @returns the ids of the steps before `stepId` that neither changed nor wait for one that did, in order */
export function reusableSteps({ before, now, succeeded, stepId }: Comparison): string[] {
  if (JSON.stringify(before.inputs) !== JSON.stringify(now.inputs)) return [];
  const earlier = new Map(before.steps.map((step) => [step.id, step]));
  const current = new Map(now.steps.map((step) => [step.id, step]));
  const known = new Map<string, boolean>();
  const isSame = (id: string): boolean => {
    const found = known.get(id);
    if (found !== undefined) return found;
    // A step that waits for itself is never reused.
    known.set(id, false);
    const [was, is] = [earlier.get(id), current.get(id)];
    const same =
      was !== undefined &&
      is !== undefined &&
      was.text === is.text &&
      was.needs.join(" ") === is.needs.join(" ") &&
      is.needs.every(isSame);
    known.set(id, same);
    return same;
  };
  const wanted = ancestorsOf(current, stepId);
  return now.steps.map(({ id }) => id).filter((id) => wanted.has(id) && succeeded.includes(id) && isSame(id));
}

/** @returns the ids of the steps that a step waits for, directly and through others */
export function ancestorsOf(
  steps: ReadonlyMap<string, { needs: readonly string[] }>,
  stepId: string,
): Set<string> {
  const found = new Set<string>();
  const queue = [...(steps.get(stepId)?.needs ?? [])];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (found.has(id) || id === stepId) continue;
    found.add(id);
    queue.push(...(steps.get(id)?.needs ?? []));
  }
  return found;
}

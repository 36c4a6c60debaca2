/** What steps read, for the plans of retries. All of it is computed once for each definition, which many runs share. */
import type { StepDefinition } from "../../../schemas/workflow-definition.ts";
import { canonicalJson } from "../../core/canonical-json.ts";
import { oncePer } from "../../core/once-per.ts";

/**
 * Finds references to steps, inputs, `run` and `state` in a step. It searches all of its text, so it may find a reference too many,
 * but never misses one.
 */
export const referencesOf = oncePer((step: StepDefinition) => {
  const json = JSON.stringify(step);
  return {
    steps: [...json.matchAll(/\bsteps\s*(?:\.\s*|\[\s*\\?["'])([a-z][a-z0-9_]*)/g)].map((match) => match[1]!),
    inputs: /\binputs\b/.test(json),
    run: /\brun\b/.test(json),
    state: /\bstate\b/.test(json),
  };
});

/** The ids of the steps that read the output of each step. */
export const readersOf = oncePer(
  (steps: readonly StepDefinition[]): ReadonlyMap<string, readonly string[]> => {
    const readers = new Map<string, string[]>();
    for (const step of steps)
      for (const id of new Set(referencesOf(step).steps))
        if (readers.get(id)?.push(step.id) === undefined) readers.set(id, [step.id]);
    return readers;
  },
);

const canonicalOf = oncePer((step: StepDefinition) => ({ text: canonicalJson(step) }));

/** Whether two steps say the same. */
export const isSameStep = (step: StepDefinition | undefined, other: StepDefinition): boolean =>
  step === other || (step !== undefined && canonicalOf(step).text === canonicalOf(other).text);

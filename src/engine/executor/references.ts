/** What a step reads, for the plans of retries. */
import type { StepDefinition } from "../../../schemas/workflow-definition.ts";

/**
 * Finds references to steps, inputs, `run` and `state` in a step. It searches all of its text, so it may find a reference too many,
 * but never misses one.
 */
export function referencesOf(step: StepDefinition) {
  const json = JSON.stringify(step);
  return {
    steps: [...json.matchAll(/\bsteps\s*(?:\.\s*|\[\s*\\?["'])([a-z][a-z0-9_]*)/g)].map((match) => match[1]!),
    inputs: /\binputs\b/.test(json),
    run: /\brun\b/.test(json),
    state: /\bstate\b/.test(json),
  };
}

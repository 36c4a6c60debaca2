/** The part of a draft that the test of one step runs. */
import type { Issue } from "../../schemas/problem.ts";
import type { StepDefinition } from "../../schemas/workflow-definition.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { nearMatch } from "../../src/core/near-match.ts";
import { type AnyStepType, runsInTrial } from "../../src/core/step-type.ts";
import { ancestorsOf, graphOf } from "../../src/engine/definition/graph.ts";

type Definition = Readonly<Record<string, unknown>>;

/** What expressions of a step read besides other steps. */
const READ_BY_STEPS = ["inputs", "state"] as const;

/**
 * A definition of a step and the steps that it waits for, directly and through others.
 * @throws AppError invalid_input if there is no such step
 */
export function testedDefinition(definition: Definition, stepId: string): Record<string, unknown> {
  const unknown = unknownStepIssue(definition, "step_id", stepId);
  if (unknown !== undefined) throw invalidInput([unknown]);
  const steps = stepsOf(definition);
  const index = steps.findIndex(({ id }) => id === stepId);
  const ancestors = ancestorsOf(graphOf(steps), index);
  const read = READ_BY_STEPS.filter((name) => definition[name] !== undefined);
  return {
    ...Object.fromEntries(read.map((name) => [name, definition[name]])),
    steps: steps.filter((_, at) => at === index || ancestors.has(at)),
  };
}

/** The issue of an id that is none of a step of a definition; undefined if it is one. */
export function unknownStepIssue(definition: Definition, path: string, id: string): Issue | undefined {
  const ids = stepsOf(definition).map((step) => step.id);
  if (ids.includes(id)) return undefined;
  const near = nearMatch(id, ids);
  return {
    path,
    code: "unknown_step",
    message: "is not a step of this definition",
    ...(ids.length <= 50 && { allowed: ids }),
    ...(near !== undefined && { did_you_mean: near }),
  };
}

/** Empty outputs of the steps before the tested one that a trial can't execute, or that would only make it wait. */
export function skippedOutputs(
  stepTypes: readonly AnyStepType[],
  definition: Definition,
  { stepId, effects }: { stepId: string; effects: readonly string[] },
): Record<string, Record<string, unknown>> {
  const skipped = stepsOf(definition).filter((step) => {
    if (step.id === stepId || effects.includes(step.id)) return false;
    const type = stepTypes.find((candidate) => candidate.type === step.type);
    return step.type === "wait" || (type !== undefined && !runsInTrial(type, { ...step }));
  });
  return Object.fromEntries(skipped.map(({ id }) => [id, {}]));
}

/** The steps, of which each is an object with an id: others have issues, and are not tested. */
const stepsOf = ({ steps }: Definition): StepDefinition[] =>
  (Array.isArray(steps) ? (steps as unknown[]) : []).filter(
    (step): step is StepDefinition =>
      typeof step === "object" && step !== null && "id" in step && typeof step.id === "string",
  );

/** What a trial does instead of executing a step: it takes the output that it was given, or refuses the step's effect. */
import { formatShape } from "../../core/format-shape.ts";
import { GIVEN, type StepRef } from "../../core/model.ts";
import { runsInTrial } from "../../core/step-type.ts";
import { StepError } from "../../core/step-errors.ts";
import type { PlannedStep } from "../definition/plan.ts";
import { isForEachItem } from "../definition/step-value.ts";
import type { StepResult } from "../run-state/step-result.ts";
import type { Attempt } from "./attempt.ts";
import type { ExpressionScopes } from "./expression-scopes.ts";
import { encodeOutput } from "./step-values.ts";

/**
 * The output that a trial was given for a step or an item of its fan-out; undefined if it was given none.
 * @throws StepError output_too_large
 */
export async function givenOutput(
  { givenFor }: Pick<ExpressionScopes, "givenFor">,
  { runId, stepId, item }: StepRef,
  { step }: Pick<PlannedStep, "step">,
): Promise<StepResult | undefined> {
  const output = await givenFor({ runId, stepId });
  if (output === undefined || isForEachItem(step, output) !== (item !== null)) return undefined;
  return {
    kind: "succeeded",
    output: encodeOutput(stepId, output),
    inputHash: null,
    reusedFrom: GIVEN,
  };
}

/** Refuses a step that a trial does not execute. Its fields are evaluated, so that the attempt shows what it would do. */
export function assertRunsInTrial({ planned: { step, type }, input }: Attempt): void {
  const resolved = { ...step, ...input };
  if (runsInTrial(type, resolved)) return;
  const why = type.hasEffects(resolved) ? "it has effects" : "it asks a person";
  throw new StepError(
    "not_given",
    `"${step.id}" (${type.type}) was not executed, because this run is a trial and ${why}.`,
    {
      fix: `Give its output, such as given: {"${step.id}": ${formatShape(type.output)}}, to try what follows.`,
    },
  );
}

/** What a trial does instead of executing a step: it takes the output that it was given, or refuses the step's effect. */
import { formatShape } from "../../core/format-shape.ts";
import { GIVEN, type StepRef } from "../../core/model.ts";
import type { RunReader } from "../../core/run-ports.ts";
import { runsInTrial } from "../../core/step-type.ts";
import { StepError } from "../../core/step-errors.ts";
import type { StepResult } from "../run-state/step-result.ts";
import type { Attempt } from "./attempt.ts";
import { encodeOutput } from "./step-values.ts";

/** The output that a trial was given for a step; undefined if it was given none. @throws StepError output_too_large */
export async function givenOutput(
  runs: Pick<RunReader, "trial">,
  { runId, stepId }: StepRef,
): Promise<StepResult | undefined> {
  const { given } = (await runs.trial(runId))!;
  if (!Object.hasOwn(given, stepId)) return undefined;
  return {
    kind: "succeeded",
    output: encodeOutput(stepId, given[stepId]!),
    inputHash: null,
    reusedFrom: GIVEN,
  };
}

/** Refuses a step that a trial does not execute, unless its effects are confirmed. Its fields are evaluated, so that the attempt shows what it would do. */
export async function assertRunsInTrial(
  runs: Pick<RunReader, "trial">,
  { run, planned: { step, type }, input }: Attempt,
): Promise<void> {
  const resolved = { ...step, ...input };
  if (runsInTrial(type, resolved)) return;
  const { effects = [] } = (await runs.trial(run.id))!;
  if (type.hasEffects(resolved) && effects.includes(step.id)) return;
  const why = type.hasEffects(resolved) ? "it has effects" : "it asks a person";
  throw new StepError(
    "not_given",
    `"${step.id}" (${type.type}) was not executed, because this run is a trial and ${why}.`,
    {
      fix: `Give its output, such as given: {"${step.id}": ${formatShape(type.output)}}, to try what follows.`,
    },
  );
}

import * as texts from "#texts/run-name";
import type { RunSummary } from "../../../schemas/run.ts";

/** The name of a run for people: that of its workflow, or of its single step. */
export const runName = ({
  workflow_name: name,
  workflow_id: workflow,
  step,
}: Pick<RunSummary, "workflow_id" | "step" | "workflow_name">): string =>
  name ??
  workflow ??
  (step === undefined ? texts.singleStep : texts.namedStepRun({ type: step.type, step: step.id }));

import type { StepRef } from "./model.ts";

/** A unit, or a job of a whole run, as lines of the log name it. */
export const stepRefLogFields = ({ runId, stepId, item }: StepRef) => ({
  run_id: runId,
  ...(stepId !== "" && { step_id: stepId }),
  ...(item !== null && { item }),
});

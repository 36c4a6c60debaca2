import type { StepRef } from "./model.ts";

/** The log fields that identify a step, an item of its fan-out, or (with an empty step id) a whole run. */
export const stepRefLogFields = ({ runId, stepId, item }: StepRef) => ({
  run_id: runId,
  ...(stepId !== "" && { step_id: stepId }),
  ...(item !== null && { item }),
});

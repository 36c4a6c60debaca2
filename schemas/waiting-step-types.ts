/** The step types that wait for something outside of the executors, and how the views of a run label the wait. */
const WAITING_STEP_TYPES = {
  wait: { until: "Waiting until" },
  approval: { until: "Approval expires" },
  workflow: { until: "Waiting until" },
} as const;

const types = new Map<string, { readonly until: string }>(Object.entries(WAITING_STEP_TYPES));

/** Whether steps of this type only wait: for a time, a person or another run. */
export const isWaitingStepType = (type: string): boolean => types.has(type);

/** How a view labels the time at which the wait of a step ends. */
export const waitEndLabel = (type: string): string => types.get(type)?.until ?? "Waiting until";

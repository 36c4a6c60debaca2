/** The step types that wait for something outside of the executors. */
const WAITING_STEP_TYPES: ReadonlySet<string> = new Set(["wait", "approval", "workflow"]);

/** Whether steps of this type only wait: for a time, a person or another run. */
export const isWaitingStepType = (type: string): boolean => WAITING_STEP_TYPES.has(type);

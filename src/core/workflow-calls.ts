/** Finds the workflows that a definition runs. It may have issues, so nothing is assumed about its form. */

const stepsOf = ({ steps }: Readonly<Record<string, unknown>>): Record<string, unknown>[] =>
  (Array.isArray(steps) ? (steps as unknown[]) : []).map((step) =>
    typeof step === "object" && step !== null ? (step as Record<string, unknown>) : {},
  );

/** A step that runs another workflow. */
export interface WorkflowCall {
  /** Its position in `steps`. */
  index: number;
  workflow: string;
  /** Whether every run that succeeds has run it. */
  unconditional: boolean;
}

/** Returns the steps that run other workflows, in their order. */
export function workflowCalls(definition: Readonly<Record<string, unknown>>): WorkflowCall[] {
  return stepsOf(definition).flatMap((step, index) => {
    const { type, workflow, if: condition, on_error: onError } = step;
    if (type !== "workflow" || typeof workflow !== "string") return [];
    const isGuarded = condition !== undefined && condition !== true;
    const unconditional = !isGuarded && step["for_each"] === undefined && onError !== "continue";
    return [{ index, workflow, unconditional }];
  });
}

/** Returns the ids of the workflows that a definition runs: by its steps, and when a run failed. */
export function calledWorkflowIds(definition: object): string[] {
  const fields = definition as Readonly<Record<string, unknown>>;
  const { on_failure: onFailure } = fields;
  const ids = workflowCalls(fields).map(({ workflow }) => workflow);
  return [...new Set([...ids, ...(typeof onFailure === "string" ? [onFailure] : [])])];
}

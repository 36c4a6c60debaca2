/** Ids of the steps that undo other steps: `undo:<step id>`. No step of a definition can have such an id. */
const PREFIX = "undo:";

/** The id under which the undo of a step is recorded. */
export const undoStepId = (stepId: string): string => `${PREFIX}${stepId}`;

/** The id of the step that is undone; undefined for a step of the definition. */
export const undoneStepId = (id: string): string | undefined =>
  id.startsWith(PREFIX) ? id.slice(PREFIX.length) : undefined;

/** The first text that sorts after all ids of undo steps. */
export const AFTER_UNDO_IDS = "undo;";

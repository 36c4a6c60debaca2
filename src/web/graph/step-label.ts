/** The accessible name of a step in the graph. */
import type { GraphStep } from "./steps.ts";

/** Maximum number of needed steps that are named. */
const MAX_NAMED = 5;

/** "revenue, sql, succeeded, needs: orders". */
export function stepLabel(step: GraphStep): string {
  if (step.folded !== undefined)
    return [`${step.folded.length} steps`, step.type, step.status, "folded"].filter(Boolean).join(", ");
  const {
    id,
    type,
    name,
    needs,
    condition,
    fanOut,
    repeats,
    undoable,
    hasLookup,
    rate,
    required,
    status,
    progress,
    attempts,
  } = step;
  const more = needs.length - MAX_NAMED;
  const neededSteps = `${needs.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return [
    name === undefined ? id : `${name} ${id}`,
    type === "" ? "no type" : type,
    status,
    condition === true && "conditional",
    fanOut === true && (progress === undefined ? "runs once per item" : itemsLabel(progress)),
    repeats === true && (progress === undefined ? "runs repeatedly" : iterationsLabel(progress)),
    rate !== undefined && `starts at most ${rate}`,
    required !== undefined && `${required} people must approve`,
    undoable === true && "is undone if the run does not succeed",
    hasLookup === true && "finds out whether its effect happened before it is sent again",
    attempts !== undefined && attempts > 1 && `${attempts} attempts`,
    needs.length === 0 ? "needs no other step" : `needs: ${neededSteps}`,
  ]
    .filter((part) => typeof part === "string")
    .join(", ");
}

type Progress = NonNullable<GraphStep["progress"]>;

/** "1 failed"; null if no item and no iteration has failed. */
export const failedLabel = (progress: Pick<Progress, "failed"> | undefined): string | null =>
  progress === undefined || progress.failed === 0 ? null : `${progress.failed.toLocaleString()} failed`;

const failedPart = (progress: Progress): string => {
  const failed = failedLabel(progress);
  return failed === null ? "" : `, ${failed}`;
};

/** "2 of 5 items completed, 1 failed". */
export const itemsLabel = (progress: Progress): string =>
  `${progress.done} of ${progress.total} items completed${failedPart(progress)}`;

/** "2 iterations completed, at most 50, 1 failed". */
export const iterationsLabel = (progress: Progress): string => {
  const { done, max } = progress;
  return `${done} ${done === 1 ? "iteration" : "iterations"} completed${max === undefined ? "" : `, at most ${max}`}${failedPart(progress)}`;
};

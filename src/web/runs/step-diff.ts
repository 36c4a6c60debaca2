/** Compares the steps of a run's definition with a changed one, and previews the retry. */
import type { RunStep } from "../../../schemas/run.ts";
import { isSameDefinition } from "../workflows/describe-changes.ts";
import { pluralize } from "./labels.ts";
import { isUndoStep, undoStepId } from "./undo-steps.ts";

type Definition = Readonly<Record<string, unknown>>;

interface StepDiff {
  changed: string[];
  added: string[];
  removed: string[];
}

export function diffSteps(before: Definition, after: Definition): StepDiff {
  const [old, current] = [stepsById(before), stepsById(after)];
  return {
    changed: [...current.keys()].filter(
      (id) => old.has(id) && !isSameDefinition(old.get(id), current.get(id)),
    ),
    added: [...current.keys()].filter((id) => !old.has(id)),
    removed: [...old.keys()].filter((id) => !current.has(id)),
  };
}

/**
 * Describes what a retry with the changed definition does. Which outputs are reused is decided during the run, from the
 * resolved inputs of each step.
 */
export function previewRetry({ changed, added, removed }: StepDiff, all: readonly RunStep[]): string[] {
  const edited = new Set([...changed, ...added, ...removed]);
  const ids = new Set(all.map(({ id }) => id));
  const undone = all.filter(({ id }) => ids.has(undoStepId(id)) && !edited.has(id)).map(({ id }) => id);
  const steps = all.filter((step) => !isUndoStep(step) && !undone.includes(step.id));
  const unchanged = steps.filter(({ id }) => !edited.has(id));
  const unfinished = unchanged.filter((step) => !hasSucceeded(step)).map(withItems);
  const succeeded = unchanged.length - unfinished.length;
  return [
    changed.length > 0 && `Changed, will run again: ${formatIds(changed)}.`,
    added.length > 0 && `Added: ${formatIds(added)}.`,
    removed.length > 0 && `Removed: ${formatIds(removed)}.`,
    undone.length > 0 && `Undone, will run again: ${formatIds(undone)}.`,
    unfinished.length > 0 && `Not succeeded, will run: ${formatIds(unfinished)}.`,
    succeeded > 0 &&
      `${pluralize(succeeded, "other step")} succeeded. Outputs are reused where the inputs are unchanged.`,
  ].filter((sentence) => sentence !== false);
}

/** A fan-out that went on after items that failed runs for these. */
const hasSucceeded = ({ status, items }: RunStep): boolean =>
  status === "succeeded" && (items === undefined || items.max !== undefined || items.failed === 0);

const withItems = ({ id, items }: RunStep): string =>
  items === undefined || items.max !== undefined
    ? id
    : `${id} (${items.done - items.failed} of ${items.total} items succeeded)`;

function stepsById({ steps }: Definition): Map<string, Record<string, unknown>> {
  const list = Array.isArray(steps) ? (steps as unknown[]) : [];
  return new Map(
    list.flatMap((step) =>
      typeof step === "object" && step !== null && "id" in step && typeof step.id === "string"
        ? [[step.id, step as Record<string, unknown>]]
        : [],
    ),
  );
}

const MAX_NAMED = 8;

const formatIds = (ids: readonly string[]): string =>
  ids.length <= MAX_NAMED
    ? ids.join(", ")
    : `${ids.slice(0, MAX_NAMED).join(", ")} and ${ids.length - MAX_NAMED} more`;

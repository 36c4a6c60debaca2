/** Compares the steps of a run's definition with a changed one, and previews the retry. */
import * as texts from "#texts/runs";
import type { RunStep } from "../../../schemas/run.ts";
import { isSameDefinition } from "../workflows/describe-changes.ts";
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
  const unfinished = steps
    .filter(({ id, status }) => status !== "succeeded" && !edited.has(id))
    .map(({ id }) => id);
  const succeeded = steps.filter(({ id, status }) => status === "succeeded" && !edited.has(id)).length;
  return [
    changed.length > 0 && texts.changedSteps({ steps: formatIds(changed) }),
    added.length > 0 && texts.addedSteps({ steps: formatIds(added) }),
    removed.length > 0 && texts.removedSteps({ steps: formatIds(removed) }),
    undone.length > 0 && texts.undoneSteps({ steps: formatIds(undone) }),
    unfinished.length > 0 && texts.unfinishedSteps({ steps: formatIds(unfinished) }),
    succeeded > 0 && texts.otherSteps({ count: succeeded }),
  ].filter((sentence) => sentence !== false);
}

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
    : texts.stepsAndMore({ steps: ids.slice(0, MAX_NAMED).join(", "), more: ids.length - MAX_NAMED });

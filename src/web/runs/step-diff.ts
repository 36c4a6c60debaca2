/** Which steps differ between the definition of a run and the changed one that it is to be retried on. */
import type { RunStep } from "../../../schemas/run.ts";
import { isSameDefinition } from "../workflows/describe-changes.ts";
import { pluralize } from "./labels.ts";

type Definition = Readonly<Record<string, unknown>>;

interface StepDiff {
  changed: string[];
  added: string[];
  removed: string[];
}

export function diffSteps(before: Definition, after: Definition): StepDiff {
  const [old, now] = [stepsById(before), stepsById(after)];
  return {
    changed: [...now.keys()].filter((id) => old.has(id) && !isSameDefinition(old.get(id), now.get(id))),
    added: [...now.keys()].filter((id) => !old.has(id)),
    removed: [...old.keys()].filter((id) => !now.has(id)),
  };
}

/**
 * What a retry on the changed definition does, as far as it can be known before: what the new run takes over it
 * decides by the resolved inputs, step by step.
 */
export function previewRetry({ changed, added, removed }: StepDiff, steps: readonly RunStep[]): string[] {
  const written = new Set([...changed, ...added, ...removed]);
  const open = steps
    .filter(({ id, status }) => status !== "succeeded" && !written.has(id))
    .map(({ id }) => id);
  const kept = steps.filter(({ id, status }) => status === "succeeded" && !written.has(id)).length;
  return [
    changed.length > 0 && `Changed, so they run again: ${named(changed)}.`,
    added.length > 0 && `New: ${named(added)}.`,
    removed.length > 0 && `Taken out: ${named(removed)}.`,
    open.length > 0 && `Had not succeeded, so they run: ${named(open)}.`,
    kept > 0 &&
      `${pluralize(kept, "other step")} had succeeded. What they gave is taken over wherever their inputs come out the same.`,
  ].filter((sentence) => sentence !== false);
}

function stepsById({ steps }: Definition): Map<string, Record<string, unknown>> {
  const written = Array.isArray(steps) ? (steps as unknown[]) : [];
  return new Map(
    written.flatMap((step) =>
      typeof step === "object" && step !== null && "id" in step && typeof step.id === "string"
        ? [[step.id, step as Record<string, unknown>]]
        : [],
    ),
  );
}

const MOST_NAMED = 8;

const named = (ids: readonly string[]): string =>
  ids.length <= MOST_NAMED
    ? ids.join(", ")
    : `${ids.slice(0, MOST_NAMED).join(", ")} and ${ids.length - MOST_NAMED} more`;

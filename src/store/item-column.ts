import type { StepRef } from "../core/model.ts";
import type { RunStepRow } from "./run-schema.ts";

/** The column `item`: the index of an item of a fan-out, or -1 for the step itself, so that it can be part of a key. */
export const NO_ITEM = -1;

export const encodeItem = (item: number | null): number => item ?? NO_ITEM;

export const decodeItem = (column: number): number | null => (column === NO_ITEM ? null : column);

export const stepRefOf = (row: Pick<RunStepRow, "run_id" | "step_id" | "item">): StepRef => ({
  runId: row.run_id,
  stepId: row.step_id,
  item: decodeItem(row.item),
});

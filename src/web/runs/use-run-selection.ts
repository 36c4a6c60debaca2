import { useState } from "react";
import type { RunSummary } from "../../../schemas/run.ts";
import { useScopeCheck } from "../projects/use-projects.tsx";

export interface RunSelection {
  /** Whether the user can select any of the listed runs. */
  isPossible: boolean;
  /** The selected runs that are listed: one that no longer fits the filter is not acted on. */
  selected: readonly RunSummary[];
  isAllSelected: boolean;
  canSelect: (run: RunSummary) => boolean;
  isSelected: (run: RunSummary) => boolean;
  select: (run: RunSummary, isSelected: boolean) => void;
  selectAll: (isSelected: boolean) => void;
}

/** The runs that the user selects in a list, among those whose project allows them to run something. */
export function useRunSelection(runs: readonly RunSummary[]): RunSelection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const hasScope = useScopeCheck();
  const canSelect = (run: RunSummary): boolean => hasScope("run", run);
  const selectable = runs.filter(canSelect);
  const selected = selectable.filter(({ id }) => ids.has(id));
  return {
    isPossible: selectable.length > 0,
    selected,
    isAllSelected: selected.length > 0 && selected.length === selectable.length,
    canSelect,
    isSelected: ({ id }) => ids.has(id),
    select: ({ id }, isSelected) =>
      setIds((before) => new Set(isSelected ? [...before, id] : [...before].filter((one) => one !== id))),
    selectAll: (isSelected) => setIds(new Set(isSelected ? selectable.map(({ id }) => id) : [])),
  };
}

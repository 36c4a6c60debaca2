/** The selected runs of a list. Runs that leave the list are no longer selected. */
import { useState } from "react";
import type { RunSummary } from "../../../schemas/run.ts";

export interface Selection {
  has: (id: string) => boolean;
  toggle: (id: string) => void;
  setAll: (isSelected: boolean) => void;
  clear: () => void;
  selected: readonly RunSummary[];
}

export function useSelection(runs: readonly RunSummary[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  return {
    has: (id) => ids.has(id),
    toggle(id) {
      const changed = new Set(ids);
      if (!changed.delete(id)) changed.add(id);
      setIds(changed);
    },
    setAll: (isSelected) => setIds(new Set(isSelected ? runs.map(({ id }) => id) : [])),
    clear: () => setIds(new Set()),
    selected: runs.filter(({ id }) => ids.has(id)),
  };
}

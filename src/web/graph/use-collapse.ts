/** Which groups of a graph are collapsed. */
import { useMemo, useState } from "react";
import { collapse, findGroups } from "./collapse.ts";
import type { GraphStep } from "./steps.ts";

/** Number of steps above which groups are collapsed at first. */
const MAX_EXPANDED_STEPS = 100;

export interface CollapsedSteps {
  /** The steps to draw, with one card for each collapsed group. */
  shown: readonly GraphStep[];
  /** Whether there are groups at all. */
  canCollapse: boolean;
  isCollapsed: boolean;
  /** Collapses all groups, or expands them. */
  setCollapsed: (isCollapsed: boolean) => void;
  /** Expands a group. @returns its first step */
  expand: (groupId: string) => string | undefined;
  /** Expands the group that a step is in. */
  expandAround: (stepId: string) => void;
}

/** @param selected is never hidden in a group */
export function useCollapse(steps: readonly GraphStep[], selected: string | undefined): CollapsedSteps {
  // During a run, steps change with each event, but not their groups.
  const shape = JSON.stringify(steps.map(({ id, type, needs }) => ({ id, type, needs })));
  const groups = useMemo(() => findGroups(JSON.parse(shape) as GraphStep[]), [shape]);
  const [choice, setChoice] = useState<boolean>();
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set());
  const isCollapsed = choice ?? steps.length > MAX_EXPANDED_STEPS;
  const shown = useMemo(
    () =>
      collapse(
        steps,
        groups.filter(
          ({ id, members }) =>
            isCollapsed && !expanded.has(id) && (selected === undefined || !members.includes(selected)),
        ),
      ),
    [steps, groups, isCollapsed, expanded, selected],
  );
  const expand = (groupId: string): string | undefined => {
    setExpanded((before) => new Set([...before, groupId]));
    return groups.find(({ id }) => id === groupId)?.members[0];
  };
  return {
    shown,
    canCollapse: groups.length > 0,
    isCollapsed,
    setCollapsed: (collapsed) => {
      setChoice(collapsed);
      setExpanded(new Set());
    },
    expand,
    expandAround: (stepId) => {
      const group = groups.find(({ members }) => members.includes(stepId));
      if (group !== undefined) expand(group.id);
    },
  };
}

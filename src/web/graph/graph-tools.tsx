/** Finds a step in a large graph, and collapses its groups. */
import { Select, Switch } from "@mantine/core";
import * as texts from "#texts/graph";
import { typeLabel } from "./step-label.ts";
import type { GraphStep } from "./steps.ts";
import type { CollapsedSteps } from "./use-collapse.ts";

/** Number of steps from which a graph has a search. */
export const MIN_SEARCHED_STEPS = 20;
/** Maximum number of found steps that are listed. */
const MAX_FOUND = 50;

interface GraphToolsProps {
  steps: readonly GraphStep[];
  groups: CollapsedSteps;
  onFind: (stepId: string) => void;
}

export function GraphTools({ steps, groups, onFind }: GraphToolsProps) {
  return (
    <div className="step-graph-tools">
      <Select
        size="xs"
        w={220}
        aria-label={texts.findStep}
        placeholder={texts.findStep}
        searchable
        value={null}
        limit={MAX_FOUND}
        nothingFoundMessage={texts.noSuchStep}
        data={steps.map((step) => ({
          value: step.id,
          label: `${step.name ?? step.id} · ${typeLabel(step)}`,
        }))}
        onChange={(id) => id !== null && onFind(id)}
      />
      {groups.canCollapse && (
        <Switch
          size="xs"
          label={texts.collapseGroups}
          checked={groups.isCollapsed}
          onChange={(event) => groups.setCollapsed(event.currentTarget.checked)}
        />
      )}
    </div>
  );
}

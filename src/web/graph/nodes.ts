/** Converts steps with their layout to React Flow nodes. */
import { CARD, type GraphLayout } from "./geometry.ts";
import type { StepNode } from "./step-card.tsx";
import type { GraphStep } from "./steps.ts";
import { stepLabel } from "./step-label.ts";

/**
 * @param ids the step ids in the order of the layout
 * @param found the ids of the steps that a search has found; undefined without a search
 * @returns nodes in the order of the steps
 */
export function createNodes(
  steps: readonly GraphStep[],
  ids: readonly string[],
  { corners }: GraphLayout,
  {
    selected,
    isSelectable,
    found,
  }: { selected: string | undefined; isSelectable: boolean; found: ReadonlySet<string> | undefined },
): StepNode[] {
  const position = new Map(ids.map((id, index) => [id, index]));
  return steps.flatMap((step): StepNode[] => {
    const index = position.get(step.id);
    if (index === undefined) return [];
    const isSelected = step.id === selected;
    return [
      {
        id: step.id,
        type: "step",
        position: corners[index]!,
        data: { step },
        ...CARD,
        measured: CARD,
        selected: isSelected,
        ...(found !== undefined && !isFound(step, found) && { className: "step-node-other" }),
        // A button takes its accessible name from its content.
        ...(isSelectable ? { ariaRole: "button" } : { ariaRole: "img", ariaLabel: stepLabel(step) }),
        domAttributes: {
          // The graph is one tab stop; the arrow keys move between the cards.
          tabIndex: -1,
          "aria-roledescription": "step",
          ...(isSelectable && { "aria-pressed": isSelected }),
        },
      },
    ];
  });
}

const isFound = ({ id, folded = [id] }: GraphStep, found: ReadonlySet<string>): boolean =>
  folded.some((one) => found.has(one));

/** The cards of a laid out graph, as React Flow takes them. */
import { CARD, type GraphLayout } from "./geometry.ts";
import type { StepNode } from "./step-card.tsx";
import type { GraphStep } from "./steps.ts";
import { stepLabel } from "./step-label.ts";

/**
 * The cards, in the order of the list.
 * @param ids of the placement's steps
 */
export function createNodes(
  steps: readonly GraphStep[],
  ids: readonly string[],
  { corners }: GraphLayout,
  selected: string | undefined,
  isSelectable: boolean,
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
        // A button is named by what stands in it.
        ...(isSelectable ? { ariaRole: "button" } : { ariaRole: "img", ariaLabel: stepLabel(step) }),
        domAttributes: {
          // One stop for the whole graph: the arrow keys go on from there.
          tabIndex: -1,
          "aria-roledescription": "step",
          ...(isSelectable && { "aria-pressed": isSelected }),
        },
      },
    ];
  });
}

/** Converts steps with their layout to React Flow nodes. */
import * as texts from "#texts/graph";
import { CARD, type GraphLayout } from "./geometry.ts";
import type { StepNode } from "./step-card.tsx";
import { isStartId } from "./starts.ts";
import type { GraphStep } from "./steps.ts";
import { stepLabel } from "./step-label.ts";

/**
 * @param ids the step ids in the order of the layout
 * @returns nodes in the order of the steps
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
    const isButton = isSelectable || step.group !== undefined;
    return [
      {
        id: step.id,
        type: "step",
        position: corners[index]!,
        data: { step },
        ...CARD,
        measured: CARD,
        selected: isSelected,
        // A button takes its accessible name from its content.
        ...(isButton ? { ariaRole: "button" } : { ariaRole: "img", ariaLabel: stepLabel(step) }),
        domAttributes: {
          // The graph is one tab stop; the arrow keys move between the cards.
          tabIndex: -1,
          "aria-roledescription": isStartId(step.id) ? texts.startRole : texts.stepRole,
          ...(step.group !== undefined && { "aria-expanded": false }),
          ...(isSelectable && step.group === undefined && { "aria-pressed": isSelected }),
        },
      },
    ];
  });
}

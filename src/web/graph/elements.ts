/** The cards and lines of a laid out graph, as React Flow takes them. */
import { Position } from "@xyflow/react";
import { CARD, type Direction, type Placement } from "./geometry.ts";
import type { StepNode } from "./step-card.tsx";
import type { StepEdge } from "./step-line.tsx";
import type { GraphStep } from "./steps.ts";
import { labelOf } from "./words.ts";

/** Where lines begin and end, told beforehand: cards out of sight are never measured. */
function handlesOf(direction: Direction): NonNullable<StepNode["handles"]> {
  const across = direction === "LR";
  const from = across ? { x: CARD.width, y: CARD.height / 2 } : { x: CARD.width / 2, y: CARD.height };
  const to = across ? { x: 0, y: CARD.height / 2 } : { x: CARD.width / 2, y: 0 };
  return [
    { type: "source", position: across ? Position.Right : Position.Bottom, ...from, width: 1, height: 1 },
    { type: "target", position: across ? Position.Left : Position.Top, ...to, width: 1, height: 1 },
  ];
}

/**
 * The cards, in the order of the list.
 * @param ids of the placement's steps
 */
export function nodesOf(
  steps: readonly GraphStep[],
  ids: readonly string[],
  { corners, direction }: Placement,
  selected: string | undefined,
  isSelectable: boolean,
): StepNode[] {
  const position = new Map(ids.map((id, index) => [id, index]));
  const handles = handlesOf(direction);
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
        handles,
        selected: isSelected,
        ariaLabel: labelOf(step),
        ariaRole: isSelectable ? "button" : "group",
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

/** The lines; those of the selected step stand out. Cards tell what they wait for in words, so lines say nothing. */
export function edgesOf(
  steps: readonly GraphStep[],
  ids: readonly string[],
  { edges }: Placement,
  selected: string | undefined,
): StepEdge[] {
  const known = new Set(steps.map(({ id }) => id));
  return edges.flatMap(({ from, to, path }): StepEdge[] => {
    const [source, target] = [ids[from]!, ids[to]!];
    if (!known.has(source) || !known.has(target)) return [];
    return [
      {
        id: `${from}-${to}`,
        type: "step",
        source,
        target,
        data: { path, marked: selected === source || selected === target },
        ariaRole: "presentation",
        domAttributes: { "aria-hidden": true },
      },
    ];
  });
}

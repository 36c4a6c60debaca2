/** What a layout is asked for and what it gives; where the arrow keys lead on it. Pure. */
import type { GraphStep } from "./steps.ts";

/** As long may a layout take. */
export const LAYOUT_LIMIT_MS = 2_000;

/** Left to right, or top to bottom. */
export type Direction = "LR" | "TB";

/** Every card has one size, so that a layout depends on nothing but ids and edges. */
export const CARD = { width: 220, height: 68 };
/** Between cards of one rank, and between ranks. */
export const GAP = { beside: 24, rank: 56 };

/** Steps by their position in the list. */
export interface LayoutRequest {
  /** For each step the positions of those that it waits for. */
  needs: readonly (readonly number[])[];
  direction: Direction;
}

export interface Point {
  x: number;
  y: number;
}

export interface RoutedEdge {
  from: number;
  to: number;
  /** As the `d` of an SVG path. */
  path: string;
}

export interface GraphLayout {
  direction: Direction;
  /** The upper left corner of each card. */
  corners: readonly Point[];
  edges: readonly RoutedEdge[];
  width: number;
  height: number;
}

/** What must be laid out, null for nothing. A step that waits for itself is a fault, and no line. */
export function createLayoutRequest(
  steps: readonly Pick<GraphStep, "id" | "needs">[],
  direction: Direction,
): LayoutRequest | null {
  if (steps.length === 0) return null;
  const position = new Map(steps.map(({ id }, index) => [id, index]));
  const needs = steps.map((step, index) => {
    const positions = step.needs.map((id) => position.get(id));
    return [...new Set(positions)].filter((it) => it !== undefined && it !== index) as number[];
  });
  return { needs, direction };
}

export type ArrowKey = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

/**
 * The card that an arrow key leads to: along the flow the nearest of the next rank, across it the next of the same
 * rank. So every card can be reached.
 */
export function adjacentCard(
  { corners, direction }: Pick<GraphLayout, "corners" | "direction">,
  from: number,
  key: ArrowKey,
): number | undefined {
  const here = corners[from];
  if (here === undefined) return undefined;
  const [along, across] = direction === "LR" ? (["x", "y"] as const) : (["y", "x"] as const);
  const horizontal = key === "ArrowLeft" || key === "ArrowRight";
  const forward = key === "ArrowRight" || key === "ArrowDown";
  const isAlong = horizontal === (direction === "LR");
  const axis = isAlong ? along : across;
  const ahead = (at: Point): number => (forward ? at[axis] - here[axis] : here[axis] - at[axis]);
  let best: { index: number; far: number; aside: number } | undefined;
  for (const [index, at] of corners.entries()) {
    const far = ahead(at);
    // A layout computes with fractions: half a point is the same rank.
    if (far < 0.5 || (!isAlong && Math.abs(at[along] - here[along]) > 0.5)) continue;
    const aside = Math.abs(at[across] - here[across]);
    if (best === undefined || far < best.far - 0.5 || (far < best.far + 0.5 && isAlong && aside < best.aside))
      best = { index, far, aside };
  }
  return best?.index;
}

/** The input and output of a layout, and the navigation between its cards with the arrow keys. */
import type { GraphStep } from "./steps.ts";

/** Time limit for a layout, in milliseconds. */
export const LAYOUT_LIMIT_MS = 2_000;

/** Left to right, or top to bottom. */
export type Direction = "LR" | "TB";

/** Size of a card, in pixels. All cards have the same size, so that a layout depends only on ids and edges. */
export const CARD = { width: 220, height: 68 };
/** Distance between the cards of a rank, and between ranks, in pixels. */
export const GAP = { beside: 24, rank: 56 };

/** Steps are identified by their index in the list. */
export interface LayoutRequest {
  /** For each step, the indexes of the steps that it needs. */
  needs: readonly (readonly number[])[];
  direction: Direction;
  /** Whether to use the simple layout, which is fast for every graph. */
  isSimple?: boolean;
}

export interface Point {
  x: number;
  y: number;
}

export interface RoutedEdge {
  from: number;
  to: number;
  /** The `d` attribute of an SVG path. */
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

/** @returns null when there are no steps. A step that needs itself is invalid and gets no edge. */
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
 * The card that an arrow key moves to: along the flow the nearest one of the next rank, across the flow the next one of
 * the same rank. Every card can be reached this way.
 */
export function adjacentCard(
  { corners, direction }: Pick<GraphLayout, "corners" | "direction">,
  from: number,
  key: ArrowKey,
): number | undefined {
  const start = corners[from];
  if (start === undefined) return undefined;
  const [along, across] = direction === "LR" ? (["x", "y"] as const) : (["y", "x"] as const);
  const horizontal = key === "ArrowLeft" || key === "ArrowRight";
  const forward = key === "ArrowRight" || key === "ArrowDown";
  const isAlong = horizontal === (direction === "LR");
  const axis = isAlong ? along : across;
  const ahead = (at: Point): number => (forward ? at[axis] - start[axis] : start[axis] - at[axis]);
  let best: { index: number; far: number; aside: number } | undefined;
  for (const [index, at] of corners.entries()) {
    const far = ahead(at);
    // Coordinates are fractions, so a distance under half a pixel means the same rank.
    if (far < 0.5 || (!isAlong && Math.abs(at[along] - start[along]) > 0.5)) continue;
    const aside = Math.abs(at[across] - start[across]);
    if (best === undefined || far < best.far - 0.5 || (far < best.far + 0.5 && isAlong && aside < best.aside))
      best = { index, far, aside };
  }
  return best?.index;
}

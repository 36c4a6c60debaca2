/** Which part of a graph is looked at first, and whether a card is in sight. Pure. */
import { CARD, type GraphLayout, type Point } from "./geometry.ts";

export interface Size {
  width: number;
  height: number;
}

/** As React Flow has it: a shift in pixels, after the scale. */
export interface Viewport extends Point {
  zoom: number;
}

/** How small and how large it can be drawn; below `legible` it begins with its first step, and not with all of it. */
export const ZOOM = { least: 0.1, legible: 0.7, most: 1.5 };
const PADDING = 20;
/** Kept free at the foot for the buttons, where there is room. */
const FOOT = 40;
const HEIGHT = { least: 150, most: 480 };

/** How high a graph wants to be where it is so wide. */
export function preferredHeight(placement: GraphLayout, width: number): number {
  const wanted = placement.height * zoomFor(placement.width, width) + 2 * PADDING + FOOT;
  return Math.round(Math.min(Math.max(wanted, HEIGHT.least), HEIGHT.most));
}

const zoomFor = (length: number, room: number): number =>
  Math.min(Math.max((room - 2 * PADDING) / length, ZOOM.legible), 1);

/** @param placement of a card at least: no layout is made of nothing */
export function initialViewport(placement: GraphLayout, whole: Size): Viewport {
  const size = { width: whole.width, height: whole.height - FOOT };
  const zoom = Math.min(zoomFor(placement.width, size.width), zoomFor(placement.height, size.height));
  const first = placement.corners[0]!;
  /** What fits stands in the middle; else the first step does, as far as that leaves no room empty. */
  const shift = (length: number, room: number, middleOfFirst: number): number => {
    const rest = room - length * zoom;
    if (rest >= PADDING) return rest / 2;
    return Math.max(Math.min(room / 2 - middleOfFirst * zoom, PADDING), rest - PADDING);
  };
  return {
    zoom,
    x: shift(placement.width, size.width, first.x + CARD.width / 2),
    y: shift(placement.height, size.height, first.y + CARD.height / 2),
  };
}

/** Whether the whole card is seen. */
export function isCardVisible(corner: Point, view: Viewport, size: Size): boolean {
  const x = corner.x * view.zoom + view.x;
  const y = corner.y * view.zoom + view.y;
  return (
    x >= 0 && y >= 0 && x + CARD.width * view.zoom <= size.width && y + CARD.height * view.zoom <= size.height
  );
}

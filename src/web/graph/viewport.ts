/** The initial viewport of a graph, and whether a card is visible in a viewport. */
import { CARD, type GraphLayout, type Point } from "./geometry.ts";

export interface Size {
  width: number;
  height: number;
}

/** As in React Flow: a translation in pixels, applied after the zoom. */
export interface Viewport extends Point {
  zoom: number;
}

/** Zoom limits. If the whole graph would need a zoom below `legible`, only its start is shown at first. */
export const ZOOM = { min: 0.1, legible: 0.7, max: 1.5 };
const PADDING = 20;
/** Space at the bottom for the buttons, in pixels. */
const FOOTER_HEIGHT = 40;
/** Height limits of the graph, in pixels. */
const HEIGHT = { min: 150, max: 480 };

/** The height that a graph needs at a width, within limits; in pixels. */
export function preferredHeight(layout: GraphLayout, width: number): number {
  const needed = layout.height * zoomFor(layout.width, width) + 2 * PADDING + FOOTER_HEIGHT;
  return Math.round(Math.min(Math.max(needed, HEIGHT.min), HEIGHT.max));
}

const zoomFor = (length: number, room: number): number =>
  Math.min(Math.max((room - 2 * PADDING) / length, ZOOM.legible), 1);

/** @param layout with at least one card */
export function initialViewport(layout: GraphLayout, available: Size): Viewport {
  const size = { width: available.width, height: available.height - FOOTER_HEIGHT };
  const zoom = Math.min(zoomFor(layout.width, size.width), zoomFor(layout.height, size.height));
  const first = layout.corners[0]!;
  /** Centres a graph that fits; otherwise centres the first step as far as that leaves no empty space. */
  const offset = (length: number, room: number, middleOfFirst: number): number => {
    const rest = room - length * zoom;
    if (rest >= PADDING) return rest / 2;
    return Math.max(Math.min(room / 2 - middleOfFirst * zoom, PADDING), rest - PADDING);
  };
  return {
    zoom,
    x: offset(layout.width, size.width, first.x + CARD.width / 2),
    y: offset(layout.height, size.height, first.y + CARD.height / 2),
  };
}

/** Whether the whole card is visible. */
export function isCardVisible(corner: Point, view: Viewport, size: Size): boolean {
  const x = corner.x * view.zoom + view.x;
  const y = corner.y * view.zoom + view.y;
  return (
    x >= 0 && y >= 0 && x + CARD.width * view.zoom <= size.width && y + CARD.height * view.zoom <= size.height
  );
}

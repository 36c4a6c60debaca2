/** The paths of edges: straight beside the cards of a rank, curved only in the gaps between ranks. */
import { CARD, type Direction, type Point } from "./geometry.ts";

/** A point in the coordinates of the flow: along its direction and across it. */
export interface FlowPoint {
  along: number;
  across: number;
}

/** The size of a card along the flow and across it. */
export const cardExtent = (direction: Direction): FlowPoint =>
  direction === "LR"
    ? { along: CARD.width, across: CARD.height }
    : { along: CARD.height, across: CARD.width };

export const toPoint = (direction: Direction, { along, across }: FlowPoint): Point =>
  direction === "LR" ? { x: along, y: across } : { x: across, y: along };

export const toFlowPoint = (direction: Direction, { x, y }: Point): FlowPoint =>
  direction === "LR" ? { along: x, across: y } : { along: y, across: x };

/** Size of an arrowhead, in pixels. */
const ARROWHEAD = 5;

/**
 * The path of an edge with its arrowhead.
 * @param from the centre of the source card
 * @param to the centre of the target card
 * @param lanes where the edge passes the ranks in between, in order
 */
export function edgePath(
  direction: Direction,
  from: FlowPoint,
  to: FlowPoint,
  lanes: readonly FlowPoint[],
): string {
  const half = cardExtent(direction).along / 2;
  const end: FlowPoint = { along: to.along - half, across: to.across };
  const stops: FlowPoint[] = [{ along: from.along + half, across: from.across }];
  for (const { along, across } of lanes) {
    const back = lanes.length > 0 && to.along < from.along;
    stops.push({ along: back ? along + half : along - half, across });
    stops.push({ along: back ? along - half : along + half, across });
  }
  stops.push(end);
  const format = (point: FlowPoint): string => {
    const { x, y } = toPoint(direction, point);
    return `${round(x)} ${round(y)}`;
  };
  const parts = [`M${format(stops[0]!)}`];
  for (let index = 1; index < stops.length; index += 1) {
    const before = stops[index - 1]!;
    const next = stops[index]!;
    if (before.across === next.across && next.along > before.along) parts.push(`L${format(next)}`);
    else {
      const middle = (before.along + next.along) / 2;
      const first = { along: middle, across: before.across };
      const second = { along: middle, across: next.across };
      parts.push(`C${format(first)} ${format(second)} ${format(next)}`);
    }
  }
  const wing = (side: number): string => format({ along: end.along - ARROWHEAD, across: end.across + side });
  return `${parts.join("")}M${wing(-ARROWHEAD)}L${format(end)}L${wing(ARROWHEAD)}`;
}

const round = (value: number): number => Math.round(value * 10) / 10;

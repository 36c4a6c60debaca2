/** The lines between cards: straight beside the cards of a rank, bent only in the gaps between ranks. Pure. */
import { CARD, type Direction, type Point } from "./geometry.ts";

/** A point by how far along the flow it is, and how far across. */
export interface FlowPoint {
  along: number;
  across: number;
}

/** How long a card is along the flow, and how wide across. */
export const cardExtent = (direction: Direction): FlowPoint =>
  direction === "LR"
    ? { along: CARD.width, across: CARD.height }
    : { along: CARD.height, across: CARD.width };

export const toPoint = (direction: Direction, { along, across }: FlowPoint): Point =>
  direction === "LR" ? { x: along, y: across } : { x: across, y: along };

export const toFlowPoint = (direction: Direction, { x, y }: Point): FlowPoint =>
  direction === "LR" ? { along: x, across: y } : { along: y, across: x };

/** The size of an arrow's head. */
const HEAD = 5;

/**
 * The path of a line with its head.
 * @param from the middle of the card it leaves
 * @param to the middle of the card it leads to
 * @param lanes where it passes the ranks between, from the first to the last
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
  const at = (way: FlowPoint): string => {
    const { x, y } = toPoint(direction, way);
    return `${round(x)} ${round(y)}`;
  };
  const parts = [`M${at(stops[0]!)}`];
  for (let index = 1; index < stops.length; index += 1) {
    const before = stops[index - 1]!;
    const next = stops[index]!;
    if (before.across === next.across && next.along > before.along) parts.push(`L${at(next)}`);
    else {
      const middle = (before.along + next.along) / 2;
      const first = { along: middle, across: before.across };
      const second = { along: middle, across: next.across };
      parts.push(`C${at(first)} ${at(second)} ${at(next)}`);
    }
  }
  const wing = (side: number): string => at({ along: end.along - HEAD, across: end.across + side });
  return `${parts.join("")}M${wing(-HEAD)}L${at(end)}L${wing(HEAD)}`;
}

const round = (value: number): number => Math.round(value * 10) / 10;

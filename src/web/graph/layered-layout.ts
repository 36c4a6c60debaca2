/** A simple layered layout in linear time, for graphs that are too large for dagre. */
import { GAP, type LayoutRequest, type GraphLayout } from "./geometry.ts";
import { cardExtent, edgePath, toPoint, type FlowPoint } from "./edge-path.ts";

/** The rank of each step: one more than the highest rank that it needs. Cycles are cut at their first step. */
export function computeRanks(needs: LayoutRequest["needs"]): number[] {
  const dependents = dependentsOf(needs);
  const ranks = needs.map(() => 0);
  const missing = needs.map((it) => it.length);
  const placed = needs.map(() => false);
  const ready = missing.flatMap((count, index) => (count === 0 ? [index] : []));
  let first = 0;
  for (let count = 0; count < needs.length; count += 1) {
    let next = ready.pop();
    if (next === undefined) {
      while (placed[first]) first += 1;
      next = first;
    }
    placed[next] = true;
    for (const after of dependents[next]!) {
      missing[after]! -= 1;
      if (placed[after]) continue;
      ranks[after] = Math.max(ranks[after]!, ranks[next]! + 1);
      if (missing[after] === 0) ready.push(after);
    }
  }
  return ranks;
}

function dependentsOf(needs: LayoutRequest["needs"]): number[][] {
  const dependents: number[][] = needs.map(() => []);
  for (const [index, before] of needs.entries()) for (const from of before) dependents[from]!.push(index);
  return dependents;
}

/** Number of passes that sort each rank by the positions of its neighbours; more passes change little. */
const SWEEPS = 4;

export function computeLayeredLayout({ needs, direction }: LayoutRequest): GraphLayout {
  const dependents = dependentsOf(needs);
  const ranks = computeRanks(needs);
  const layers: number[][] = [];
  for (const [index, rank] of ranks.entries()) (layers[rank] ??= []).push(index);
  // The position across the flow, in cards from the middle.
  const across = needs.map(() => 0);
  const spread = (layer: readonly number[]): void =>
    layer.forEach((index, place) => (across[index] = place - (layer.length - 1) / 2));
  layers.forEach(spread);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const down = sweep % 2 === 0;
    const neighbours = down ? needs : dependents;
    for (const layer of down ? layers : layers.toReversed()) {
      const positions = new Map(
        layer.map((index) => [index, mean(neighbours[index]!.map((it) => across[it]!)) ?? across[index]!]),
      );
      layer.sort((a, b) => positions.get(a)! - positions.get(b)!);
      spread(layer);
    }
  }
  const size = cardExtent(direction);
  const widest = Math.max(1, ...layers.map((it) => it.length));
  const middle = (widest * (size.across + GAP.beside) - GAP.beside) / 2;
  const centres = needs.map((_, index): FlowPoint => ({
    along: ranks[index]! * (size.along + GAP.rank) + size.along / 2,
    across: middle + across[index]! * (size.across + GAP.beside),
  }));
  const total = toPoint(direction, {
    along: Math.max(1, layers.length) * (size.along + GAP.rank) - GAP.rank,
    across: middle * 2,
  });
  return {
    direction,
    corners: centres.map((it) =>
      toPoint(direction, { along: it.along - size.along / 2, across: it.across - size.across / 2 }),
    ),
    edges: needs.flatMap((before, to) =>
      before.map((from) => ({ from, to, path: edgePath(direction, centres[from]!, centres[to]!, []) })),
    ),
    width: total.x,
    height: total.y,
  };
}

const mean = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, it) => sum + it, 0) / values.length;

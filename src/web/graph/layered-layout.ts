/** A plain layered layout, in linear time: for graphs whose long lines would keep dagre busy for too long. Pure. */
import { GAP, type LayoutRequest, type GraphLayout } from "./geometry.ts";
import { cardExtent, edgePath, toPoint, type FlowPoint } from "./edge-path.ts";

/** The rank of each step: one more than the highest that it waits for. Cycles are cut at their first step. */
export function computeRanks(needs: LayoutRequest["needs"]): number[] {
  const dependents = dependentsOf(needs);
  const ranks = needs.map(() => 0);
  const left = needs.map((it) => it.length);
  const placed = needs.map(() => false);
  const ready = left.flatMap((count, index) => (count === 0 ? [index] : []));
  let first = 0;
  for (let count = 0; count < needs.length; count += 1) {
    let next = ready.pop();
    if (next === undefined) {
      while (placed[first]) first += 1;
      next = first;
    }
    placed[next] = true;
    for (const after of dependents[next]!) {
      left[after]! -= 1;
      if (placed[after]) continue;
      ranks[after] = Math.max(ranks[after]!, ranks[next]! + 1);
      if (left[after] === 0) ready.push(after);
    }
  }
  return ranks;
}

function dependentsOf(needs: LayoutRequest["needs"]): number[][] {
  const dependents: number[][] = needs.map(() => []);
  for (const [index, before] of needs.entries()) for (const it of before) dependents[it]!.push(index);
  return dependents;
}

/** How often the ranks are sorted by where their neighbours are: more changes little. */
const SWEEPS = 4;

export function computeLayeredLayout({ needs, direction }: LayoutRequest): GraphLayout {
  const dependents = dependentsOf(needs);
  const ranks = computeRanks(needs);
  const layers: number[][] = [];
  for (const [index, rank] of ranks.entries()) (layers[rank] ??= []).push(index);
  // Where a step is across the flow, counted in cards from the middle.
  const across = needs.map(() => 0);
  const spread = (layer: readonly number[]): void =>
    layer.forEach((index, place) => (across[index] = place - (layer.length - 1) / 2));
  layers.forEach(spread);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const down = sweep % 2 === 0;
    const neighbours = down ? needs : dependents;
    for (const layer of down ? layers : layers.toReversed()) {
      const wanted = new Map(
        layer.map((index) => [index, mean(neighbours[index]!.map((it) => across[it]!)) ?? across[index]!]),
      );
      layer.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
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
  const whole = toPoint(direction, {
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
    width: whole.x,
    height: whole.y,
  };
}

const mean = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, it) => sum + it, 0) / values.length;

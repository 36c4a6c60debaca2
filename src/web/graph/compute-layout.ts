/** Computes the positions of cards and edges with dagre, or with a simpler layout for large graphs. Runs in the layout worker. */
import { Graph, layout } from "@dagrejs/dagre";
import { CARD, GAP, type LayoutRequest, type GraphLayout, type Point } from "./geometry.ts";
import { computeLayeredLayout, computeRanks } from "./layered-layout.ts";
import { cardExtent, edgePath, toFlowPoint } from "./edge-path.ts";

/**
 * Maximum cost of a graph for each ranker, where the cost is the number of cards plus the ranks that all edges span.
 * Measured on a small server with two cores: `network-simplex` took 0.3 s at 550 and 1.7 s at 1,400; `tight-tree` took
 * 0.2 to 0.4 s at 1,000 to 2,000 (500 steps in a chain, a fan, ranks or at random), 1.8 s at 10,000 and 31 s at 125,000
 * (500 steps that all need the first). The layered layout takes a few milliseconds at any cost.
 */
const MAX_NETWORK_SIMPLEX_COST = 400;
const MAX_DAGRE_COST = 2_000;

export function computeLayout(request: LayoutRequest): GraphLayout {
  if (request.isSimple === true) return computeLayeredLayout(request);
  const ranks = computeRanks(request.needs);
  const spans = request.needs.flatMap((needs, index) =>
    needs.map((before) => Math.abs(ranks[index]! - ranks[before]!)),
  );
  const cost = spans.reduce((sum, span) => sum + span, request.needs.length);
  if (cost > MAX_DAGRE_COST) return computeLayeredLayout(request);
  try {
    return layoutWithDagre(request, cost > MAX_NETWORK_SIMPLEX_COST ? "tight-tree" : "network-simplex");
  } catch (error) {
    // dagre recurses along the ranks, so some hundreds of ranks overflow the stack.
    if (error instanceof RangeError) return computeLayeredLayout(request);
    throw error;
  }
}

function layoutWithDagre(
  { needs, direction }: LayoutRequest,
  ranker: "network-simplex" | "tight-tree",
): GraphLayout {
  const graph = new Graph();
  graph.setGraph({ rankdir: direction, ranker, nodesep: GAP.beside, ranksep: GAP.rank, edgesep: 16 });
  needs.forEach((_, index) => graph.setNode(String(index), { ...CARD }));
  needs.forEach((before, to) => before.forEach((from) => graph.setEdge(String(from), String(to), {})));
  layout(graph);
  const size = graph.graph() as { width: number; height: number };
  const centres = needs.map((_, index) => graph.node(String(index)) as Point);
  const ranks = new Set(centres.map((it) => Math.round(toFlowPoint(direction, it).along)));
  const half = cardExtent(direction).along / 2;
  const edges = needs.flatMap((before, to) =>
    before.map((from) => {
      const start = toFlowPoint(direction, centres[from]!);
      const end = toFlowPoint(direction, centres[to]!);
      const between = [start.along, end.along].toSorted((a, b) => a - b) as [number, number];
      const { points } = graph.edge(String(from), String(to)) as { points: Point[] };
      // dagre also returns points in the gaps between ranks; only those within the ranks are lanes.
      const lanes = points
        .map((point) => toFlowPoint(direction, point))
        .filter(
          ({ along }) =>
            ranks.has(Math.round(along)) && along > between[0] + half && along < between[1] - half,
        );
      return { from, to, path: edgePath(direction, start, end, lanes) };
    }),
  );
  return {
    direction,
    corners: centres.map(({ x, y }) => ({ x: x - CARD.width / 2, y: y - CARD.height / 2 })),
    edges,
    width: size.width,
    height: size.height,
  };
}

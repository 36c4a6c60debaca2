/**
 * The edges of the graph, drawn as two SVG paths: React Flow renders a component per edge, and the thousands of edges of
 * a wide fan would block the page for seconds. The cards name the steps that they need, so the paths are hidden from
 * assistive technology.
 */
import { ViewportPortal } from "@xyflow/react";
import { memo } from "react";
import type { RoutedEdge } from "./geometry.ts";

interface StepLinesProps {
  edges: readonly RoutedEdge[];
  /** The index of the step whose edges are highlighted; -1 for none. */
  marked: number;
}

export const StepLines = memo(function StepLines({ edges, marked }: StepLinesProps) {
  const isMarked = ({ from, to }: RoutedEdge): boolean => from === marked || to === marked;
  return (
    <ViewportPortal>
      <svg className="step-lines" aria-hidden>
        <path className="step-line" d={joined(edges.filter((edge) => !isMarked(edge)))} />
        <path className="step-line step-line-marked" d={joined(edges.filter(isMarked))} />
      </svg>
    </ViewportPortal>
  );
});

const joined = (edges: readonly RoutedEdge[]): string => edges.map(({ path }) => path).join("");

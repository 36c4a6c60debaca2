/**
 * The lines of the graph, as two paths: React Flow's edges are a component each, and some thousands of them, as wide
 * fans have, would hold the page for seconds. Cards tell what they wait for in words, so lines say nothing.
 */
import { ViewportPortal } from "@xyflow/react";
import { memo } from "react";
import type { RoutedEdge } from "./geometry.ts";

interface StepLinesProps {
  edges: readonly RoutedEdge[];
  /** The position of the step whose lines stand out. */
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

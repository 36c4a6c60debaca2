/** A dependency on the graph, along the way that the layout found. */
import type { Edge, EdgeProps } from "@xyflow/react";
import { memo } from "react";

export type StepEdge = Edge<{ path: string; marked: boolean }, "step">;

export const StepLine = memo(function StepLine({ data }: EdgeProps<StepEdge>) {
  return (
    <path className={`step-line${data?.marked ? " step-line-marked" : ""}`} d={data?.path} fill="none" />
  );
});

/** The graph of a workflow's steps and their dependencies; for a run, with the status of each step. */
import "@xyflow/react/dist/style.css";
import "./step-graph.css";
import { Alert, Center, Loader, Text } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useMemo } from "react";
import { MIN_SEARCHABLE } from "./find-steps.ts";
import type { Direction } from "./geometry.ts";
import { GraphTools } from "./graph-tools.tsx";
import { useLayout } from "./layout.ts";
import { StepCanvas } from "./step-canvas.tsx";
import type { GraphStep } from "./steps.ts";
import { useGraphTools } from "./use-graph-tools.ts";
import { preferredHeight } from "./viewport.ts";

export interface StepGraphProps {
  steps: readonly GraphStep[];
  selected?: string | undefined;
  onSelect?: (stepId: string) => void;
  /** In pixels; by default the height that the graph needs, within limits. */
  height?: number;
}

/** Minimum width for drawing from left to right, in pixels. */
const MIN_HORIZONTAL_WIDTH = 480;
const LOADING_HEIGHT = 160;

export default function StepGraph({ steps, selected, onSelect, height }: StepGraphProps) {
  const { found, drawn, tools, open } = useGraphTools(steps, selected, onSelect);
  const { ref, width } = useElementSize();
  const direction: Direction | null = width === 0 ? null : width < MIN_HORIZONTAL_WIDTH ? "TB" : "LR";
  const state = useLayout(drawn, direction);
  const graphHeight =
    height ?? (state.state === "ready" ? preferredHeight(state.layout, width) : LOADING_HEIGHT);
  const size = useMemo(() => ({ width, height: graphHeight }), [width, graphHeight]);
  if (steps.length === 0) return <Text c="dimmed">No steps yet.</Text>;
  if (state.state === "too-large" || state.state === "failed") {
    return (
      <Alert color="gray" role="status">
        {state.state === "too-large"
          ? `${steps.length} steps are too many to draw. Use the list of steps instead.`
          : "The graph could not be drawn. Use the list of steps instead."}
      </Alert>
    );
  }
  return (
    <>
      {steps.length >= MIN_SEARCHABLE && <GraphTools {...tools} />}
      <div className={`step-graph${onSelect === undefined ? "" : " step-graph-selectable"}`}>
        <div ref={ref} style={{ height: graphHeight }}>
          {state.state === "loading" || width === 0 ? (
            <Center h="100%">
              <Loader size="sm" role="status" aria-label="Drawing the graph" />
            </Center>
          ) : (
            <StepCanvas
              steps={drawn}
              ids={state.ids}
              layout={state.layout}
              size={size}
              selected={selected}
              onSelect={onSelect && open}
              found={found}
            />
          )}
        </div>
      </div>
    </>
  );
}

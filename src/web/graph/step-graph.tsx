/** The graph of a workflow's steps, drawn by what waits for what; of a run, with how far each step is. */
import "@xyflow/react/dist/style.css";
import "./step-graph.css";
import { Alert, Center, Loader, Text } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useMemo } from "react";
import type { Direction } from "./geometry.ts";
import { useLayout } from "./layout.ts";
import { StepCanvas } from "./step-canvas.tsx";
import type { GraphStep } from "./steps.ts";
import { preferredHeight } from "./viewport.ts";

export interface StepGraphProps {
  steps: readonly GraphStep[];
  /** The id of the step that is selected elsewhere or here. */
  selected?: string | undefined;
  onSelect?: (stepId: string) => void;
  /** In pixels; left out: as high as it needs, within bounds. */
  height?: number;
}

/** As wide must it be to be drawn from left to right. */
const WIDE = 640;
const WAITING_HEIGHT = 160;

export default function StepGraph({ steps, selected, onSelect, height }: StepGraphProps) {
  const { ref, width } = useElementSize();
  const direction: Direction | null = width === 0 ? null : width < WIDE ? "TB" : "LR";
  const layout = useLayout(steps, direction);
  const placement = layout.state === "placed" ? layout.placement : undefined;
  const shown = height ?? (placement === undefined ? WAITING_HEIGHT : preferredHeight(placement, width));
  const size = useMemo(() => ({ width, height: shown }), [width, shown]);
  if (steps.length === 0) return <Text c="dimmed">There are no steps to draw yet.</Text>;
  if (layout.state === "too-large" || layout.state === "failed") {
    return (
      <Alert color="gray" role="status">
        {layout.state === "too-large"
          ? `This graph is too large to draw: ${steps.length} steps. The list below shows them.`
          : "The graph could not be drawn. The list below shows its steps."}
      </Alert>
    );
  }
  return (
    <div className={`step-graph${onSelect === undefined ? "" : " step-graph-selectable"}`}>
      <div ref={ref} style={{ height: shown }}>
        {layout.state === "waiting" || width === 0 ? (
          <Center h="100%">
            <Loader size="sm" role="status" aria-label="Drawing the graph" />
          </Center>
        ) : (
          <StepCanvas
            steps={steps}
            ids={layout.ids}
            placement={layout.placement}
            size={size}
            selected={selected}
            onSelect={onSelect}
          />
        )}
      </div>
    </div>
  );
}

/** The graph of a workflow's steps and their dependencies; for a run, with the status of each step. */
import "@xyflow/react/dist/style.css";
import "./step-graph.css";
import { Alert, Center, Loader, Text } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useMemo, useState } from "react";
import * as texts from "#texts/graph";
import { GraphTools, MIN_SEARCHED_STEPS } from "./graph-tools.tsx";
import type { Direction } from "./geometry.ts";
import { useLayout } from "./layout.ts";
import { isStartId } from "./starts.ts";
import { StepCanvas } from "./step-canvas.tsx";
import { StepList } from "./step-list.tsx";
import type { GraphStep } from "./steps.ts";
import { useCollapse } from "./use-collapse.ts";
import { preferredHeight } from "./viewport.ts";

export interface StepGraphProps {
  steps: readonly GraphStep[];
  selected?: string | undefined;
  onSelect?: (stepId: string) => void;
  /** In pixels; by default the height that the graph needs, within limits. */
  height?: number;
}

/** Minimum width for drawing from left to right, in pixels. */
const MIN_HORIZONTAL_WIDTH = 640;
const LOADING_HEIGHT = 160;

export default function StepGraph({ steps, selected, onSelect, height }: StepGraphProps) {
  const { ref, width } = useElementSize();
  const direction: Direction | null = width === 0 ? null : width < MIN_HORIZONTAL_WIDTH ? "TB" : "LR";
  const count = steps.filter(({ id }) => !isStartId(id)).length;
  const groups = useCollapse(steps, selected);
  const state = useLayout(groups.shown, direction);
  const [target, setTarget] = useState<{ id: string }>();
  const graphHeight =
    height ?? (state.state === "ready" ? preferredHeight(state.layout, width) : LOADING_HEIGHT);
  const size = useMemo(() => ({ width, height: graphHeight }), [width, graphHeight]);
  const find = (id: string): void => {
    groups.expandAround(id);
    setTarget({ id });
    onSelect?.(id);
  };
  const expand = (groupId: string): void => {
    const first = groups.expand(groupId);
    setTarget(first === undefined ? undefined : { id: first });
  };
  if (steps.length === 0) return <Text c="dimmed">{texts.noSteps}</Text>;
  if (state.state === "too-large" || state.state === "failed") {
    return (
      <>
        <Alert color="gray" role="status">
          {state.state === "too-large" ? texts.tooManySteps({ count }) : texts.drawingFailed}
        </Alert>
        <StepList steps={steps} selected={selected} onSelect={onSelect} />
      </>
    );
  }
  return (
    <div className={`step-graph${onSelect === undefined ? "" : " step-graph-selectable"}`}>
      {(steps.length >= MIN_SEARCHED_STEPS || groups.canCollapse) && (
        <GraphTools steps={steps} groups={groups} onFind={find} />
      )}
      <div ref={ref} style={{ height: graphHeight }}>
        {state.state === "loading" || width === 0 ? (
          <Center h="100%">
            <Loader size="sm" role="status" aria-label={texts.drawing} />
          </Center>
        ) : (
          <StepCanvas
            steps={groups.shown}
            count={count}
            ids={state.ids}
            layout={state.layout}
            size={size}
            selected={selected}
            onSelect={onSelect}
            target={target}
            onExpand={expand}
          />
        )}
      </div>
    </div>
  );
}

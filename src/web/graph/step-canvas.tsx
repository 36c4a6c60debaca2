/** The drawn graph: pan it with the mouse or two fingers, move between the cards with the arrow keys. */
import { useComputedColorScheme } from "@mantine/core";
import { useReducedMotion } from "@mantine/hooks";
import { Controls, MiniMap, Panel, ReactFlow, type ReactFlowInstance } from "@xyflow/react";
import { type FocusEvent, type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { createNodes } from "./nodes.ts";
import { type ArrowKey, CARD, adjacentCard, type GraphLayout } from "./geometry.ts";
import { StepCard, type StepNode } from "./step-card.tsx";
import { StepLines } from "./step-lines.tsx";
import type { GraphStep } from "./steps.ts";
import { isCardVisible, type Size, initialViewport, ZOOM } from "./viewport.ts";

interface StepCanvasProps {
  steps: readonly GraphStep[];
  /** The step ids in the order of the layout. */
  ids: readonly string[];
  layout: GraphLayout;
  size: Size;
  selected: string | undefined;
  onSelect: ((stepId: string) => void) | undefined;
  /** What a search has found; undefined without a search. */
  found: FoundSteps | undefined;
}

interface FoundSteps {
  ids: ReadonlySet<string>;
  /** The step that is shown. */
  current: string | undefined;
}

const NODE_TYPES = { step: StepCard };
const KEYBOARD_HELP =
  "Use the arrow keys to move between steps, and Home and End for the first and last step.";
/** From this number of steps, and in this width in pixels, the canvas has an overview. */
const MIN_OVERVIEW_STEPS = 25;
const MIN_OVERVIEW_WIDTH = 480;
/** Size of the overview, in pixels. */
const OVERVIEW = { width: 160, height: 90 };
/** Duration of panning to a card, in milliseconds. */
const PAN_MS = 200;

export function StepCanvas({ steps, ids, layout, size, selected, onSelect, found }: StepCanvasProps) {
  const scheme = useComputedColorScheme();
  const reducedMotion = useReducedMotion();
  const flow = useRef<ReactFlowInstance<StepNode>>(null);
  const [current, setCurrent] = useState(selected);
  const [isOnCard, setOnCard] = useState(false);
  const isSelectable = onSelect !== undefined;
  const nodes = useMemo(
    () => createNodes(steps, ids, layout, { selected, isSelectable, found: found?.ids }),
    [steps, ids, layout, selected, isSelectable, found],
  );

  /** Pans to a card that is out of view. */
  const reveal = (id: string | undefined, duration: number): void => {
    const corner = layout.corners[id === undefined ? -1 : ids.indexOf(id)];
    const instance = flow.current;
    if (corner === undefined || instance === null) return;
    if (isCardVisible(corner, instance.getViewport(), size)) return;
    const zoom = instance.getZoom();
    void instance.setCenter(corner.x + CARD.width / 2, corner.y + CARD.height / 2, { zoom, duration });
  };
  const latestReveal = useRef(reveal);
  useEffect(() => {
    latestReveal.current = reveal;
  });
  const previousLayout = useRef(layout);
  const shown = found?.current ?? selected;
  useEffect(() => {
    const isNew = previousLayout.current !== layout;
    previousLayout.current = layout;
    if (isNew) void flow.current?.setViewport(initialViewport(layout, size));
    // The selection may come from elsewhere, such as the timeline.
    latestReveal.current(shown, isNew || reducedMotion ? 0 : PAN_MS);
  }, [layout, size, shown, reducedMotion]);

  const focus = (root: HTMLElement, id: string): void => {
    const card = () => root.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`);
    setCurrent(id);
    reveal(id, 0);
    // A card outside the view is rendered in the next frame.
    const rendered = card();
    if (rendered === null) requestAnimationFrame(() => card()?.focus({ preventScroll: true }));
    else rendered.focus({ preventScroll: true });
  };
  const startOf = (): string | undefined =>
    [current, selected, nodes[0]?.id].find((id) => id !== undefined && ids.includes(id));

  const onFocus = ({ target, currentTarget }: FocusEvent<HTMLElement>): void => {
    setOnCard(idOf(target) !== undefined);
    const start = startOf();
    if (target === currentTarget && start !== undefined && target.matches(":focus-visible"))
      focus(currentTarget, start);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const id = idOf(event.target as Element);
    if (id === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = nextOf(event.key, ids.indexOf(id));
    if (next !== undefined) focus(event.currentTarget, next);
    else if (isSelectable && (event.key === "Enter" || event.key === " ")) onSelect(id);
    else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
  };
  const nextOf = (key: string, index: number): string | undefined => {
    if (key === "Home") return ids[0];
    if (key === "End") return ids.at(-1);
    const next = key.startsWith("Arrow") ? adjacentCard(layout, index, key as ArrowKey) : undefined;
    return next === undefined ? undefined : ids[next];
  };

  return (
    <ReactFlow<StepNode>
      nodes={nodes}
      nodeTypes={NODE_TYPES}
      colorMode={scheme}
      aria-label={`Graph of ${steps.length} ${steps.length === 1 ? "step" : "steps"}`}
      tabIndex={isOnCard ? -1 : 0}
      onInit={(instance) => {
        flow.current = instance;
        latestReveal.current(shown, 0);
      }}
      defaultViewport={initialViewport(layout, size)}
      minZoom={ZOOM.min}
      maxZoom={ZOOM.max}
      onlyRenderVisibleElements
      nodesDraggable={false}
      nodesConnectable={false}
      elementsSelectable={false}
      autoPanOnNodeFocus={false}
      preventScrolling={false}
      zoomOnScroll={false}
      zoomOnDoubleClick={false}
      deleteKeyCode={null}
      selectionKeyCode={null}
      multiSelectionKeyCode={null}
      panActivationKeyCode={null}
      ariaLabelConfig={{
        "node.a11yDescription.default": isSelectable
          ? `${KEYBOARD_HELP} Press Enter to select a step.`
          : KEYBOARD_HELP,
        "edge.a11yDescription.default": "",
        "controls.ariaLabel": "View controls",
        "controls.fitView.ariaLabel": "Fit the graph to the view",
      }}
      {...(isSelectable && { onNodeClick: (_, { id }) => onSelect(id) })}
      onFocus={onFocus}
      onBlur={() => setOnCard(false)}
      onKeyDown={onKeyDown}
      onTouchStartCapture={(event) => {
        // One finger scrolls the page instead of the graph.
        if (event.touches.length < 2) event.stopPropagation();
      }}
    >
      {steps.length >= MIN_OVERVIEW_STEPS && size.width >= MIN_OVERVIEW_WIDTH && (
        <MiniMap<StepNode>
          position="top-right"
          pannable
          zoomable
          ariaLabel="Overview of the graph"
          // In a long graph a card would be thinner than a pixel.
          nodeStrokeWidth={Math.max(layout.width / OVERVIEW.width, layout.height / OVERVIEW.height)}
          maskStrokeWidth={2}
          style={OVERVIEW}
          nodeClassName={({ data }) => `step-overview-${data.step.status ?? "none"}`}
        />
      )}
      <StepLines edges={layout.edges} marked={selected === undefined ? -1 : ids.indexOf(selected)} />
      <Controls
        showInteractive={false}
        orientation="horizontal"
        fitViewOptions={{ padding: 0.08, maxZoom: 1, duration: reducedMotion ? 0 : PAN_MS }}
      />
      <Panel position="bottom-right" className="step-graph-hint">
        Use two fingers to move and zoom
      </Panel>
    </ReactFlow>
  );
}

const idOf = (element: Element): string | undefined =>
  element.classList.contains("react-flow__node") ? (element as HTMLElement).dataset["id"] : undefined;

/** A laid out graph on the screen: moved with the mouse or two fingers, walked through with the arrow keys. */
import { useComputedColorScheme } from "@mantine/core";
import { useReducedMotion } from "@mantine/hooks";
import { Controls, Panel, ReactFlow, type ReactFlowInstance } from "@xyflow/react";
import { type FocusEvent, type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { createNodes } from "./nodes.ts";
import { type ArrowKey, CARD, adjacentCard, type GraphLayout } from "./geometry.ts";
import { StepCard, type StepNode } from "./step-card.tsx";
import { StepLines } from "./step-lines.tsx";
import type { GraphStep } from "./steps.ts";
import { isCardVisible, type Size, initialViewport, ZOOM } from "./viewport.ts";

interface StepCanvasProps {
  steps: readonly GraphStep[];
  /** Of the placement's steps. */
  ids: readonly string[];
  placement: GraphLayout;
  size: Size;
  selected: string | undefined;
  onSelect: ((stepId: string) => void) | undefined;
}

const NODE_TYPES = { step: StepCard };
const KEYS = "The arrow keys go from step to step, Home and End to the first and the last.";
const MOVE_MS = 200;

export function StepCanvas({ steps, ids, placement, size, selected, onSelect }: StepCanvasProps) {
  const scheme = useComputedColorScheme();
  const still = useReducedMotion();
  const flow = useRef<ReactFlowInstance<StepNode>>(null);
  const [current, setCurrent] = useState(selected);
  const [isOnCard, setOnCard] = useState(false);
  const isSelectable = onSelect !== undefined;
  const nodes = useMemo(
    () => createNodes(steps, ids, placement, selected, isSelectable),
    [steps, ids, placement, selected, isSelectable],
  );

  const shown = useRef(placement);
  useEffect(() => {
    if (shown.current === placement) return;
    shown.current = placement;
    void flow.current?.setViewport(initialViewport(placement, size));
  }, [placement, size]);

  /** Brings a card into sight, where it is not. */
  const show = (id: string | undefined, duration: number): void => {
    const corner = placement.corners[id === undefined ? -1 : ids.indexOf(id)];
    const instance = flow.current;
    if (corner === undefined || instance === null) return;
    if (isCardVisible(corner, instance.getViewport(), size)) return;
    const zoom = instance.getZoom();
    void instance.setCenter(corner.x + CARD.width / 2, corner.y + CARD.height / 2, { zoom, duration });
  };
  const lastShow = useRef(show);
  useEffect(() => {
    lastShow.current = show;
  });
  // What was selected elsewhere, in the timeline for one, is brought here.
  useEffect(() => lastShow.current(selected, still ? 0 : MOVE_MS), [selected, still]);

  const focus = (root: HTMLElement, id: string): void => {
    const card = () => root.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`);
    setCurrent(id);
    show(id, 0);
    // A card out of sight is drawn with the next frame.
    const found = card();
    if (found === null) requestAnimationFrame(() => card()?.focus({ preventScroll: true }));
    else found.focus({ preventScroll: true });
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
    const next = key.startsWith("Arrow") ? adjacentCard(placement, index, key as ArrowKey) : undefined;
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
      }}
      defaultViewport={initialViewport(placement, size)}
      minZoom={ZOOM.least}
      maxZoom={ZOOM.most}
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
        "node.a11yDescription.default": isSelectable ? `${KEYS} Enter selects.` : KEYS,
        "edge.a11yDescription.default": "",
        "controls.ariaLabel": "The graph's view",
        "controls.fitView.ariaLabel": "Show the whole graph",
      }}
      {...(isSelectable && { onNodeClick: (_, { id }) => onSelect(id) })}
      onFocus={onFocus}
      onBlur={() => setOnCard(false)}
      onKeyDown={onKeyDown}
      onTouchStartCapture={(event) => {
        // One finger scrolls the page.
        if (event.touches.length < 2) event.stopPropagation();
      }}
    >
      <StepLines edges={placement.edges} marked={selected === undefined ? -1 : ids.indexOf(selected)} />
      <Controls
        showInteractive={false}
        orientation="horizontal"
        fitViewOptions={{ padding: 0.08, maxZoom: 1, duration: still ? 0 : MOVE_MS }}
      />
      <Panel position="bottom-right" className="step-graph-hint">
        Two fingers move and zoom
      </Panel>
    </ReactFlow>
  );
}

const idOf = (element: Element): string | undefined =>
  element.classList.contains("react-flow__node") ? (element as HTMLElement).dataset["id"] : undefined;

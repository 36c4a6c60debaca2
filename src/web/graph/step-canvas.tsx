/** The drawn graph: pan it with the mouse or two fingers, move between the cards with the arrow keys. */
import { useComputedColorScheme } from "@mantine/core";
import { useReducedMotion } from "@mantine/hooks";
import { Controls, MiniMap, Panel, ReactFlow, type ReactFlowInstance } from "@xyflow/react";
import {
  type FocusEvent,
  type KeyboardEvent,
  useEffect,
  useEffectEvent,
  useMemo,
  useRef,
  useState,
} from "react";
import * as texts from "#texts/graph";
import { createNodes } from "./nodes.ts";
import { type ArrowKey, CARD, adjacentCard, type GraphLayout } from "./geometry.ts";
import { STATUS_STYLES } from "../ui/status-badge.tsx";
import { StepCard, type StepNode } from "./step-card.tsx";
import { StepLines } from "./step-lines.tsx";
import type { GraphStep } from "./steps.ts";
import { isCardVisible, type Size, initialViewport, ZOOM } from "./viewport.ts";

interface StepCanvasProps {
  steps: readonly GraphStep[];
  /** Number of steps, also of those in groups. */
  count: number;
  /** The step ids in the order of the layout. */
  ids: readonly string[];
  layout: GraphLayout;
  size: Size;
  selected: string | undefined;
  onSelect: ((stepId: string) => void) | undefined;
  /** The step to show, which a search has found or an expanded group begins with. */
  target: { id: string } | undefined;
  onExpand: (groupId: string) => void;
}

/** Minimum number of cards, and minimum width in pixels, for which a map of the whole graph is shown. */
const MAP = { cards: 40, width: 560 };
/** Below this zoom, what is selected is not legible, so it is brought closer. */
const MIN_READABLE_ZOOM = 0.45;
const NODE_TYPES = { step: StepCard };
/** Duration of panning to a card, in milliseconds. */
const PAN_MS = 200;

export function StepCanvas(props: StepCanvasProps) {
  const { steps, count, ids, layout, size, selected, onSelect, target: sought, onExpand } = props;
  const container = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme();
  const reducedMotion = useReducedMotion();
  const flow = useRef<ReactFlowInstance<StepNode>>(null);
  const [current, setCurrent] = useState(selected);
  const [isOnCard, setOnCard] = useState(false);
  const isSelectable = onSelect !== undefined;
  const marked = selected ?? sought?.id;
  const nodes = useMemo(
    () => createNodes(steps, ids, layout, marked, isSelectable),
    [steps, ids, layout, marked, isSelectable],
  );

  /** Pans to a card that is out of view or too small to read. */
  const reveal = (id: string | undefined, duration: number): void => {
    const corner = layout.corners[id === undefined ? -1 : ids.indexOf(id)];
    const instance = flow.current;
    if (corner === undefined || instance === null) return;
    const before = instance.getZoom();
    const isReadable = before >= MIN_READABLE_ZOOM;
    if (isReadable && isCardVisible(corner, instance.getViewport(), size)) return;
    const zoom = isReadable ? before : ZOOM.legible;
    void instance.setCenter(corner.x + CARD.width / 2, corner.y + CARD.height / 2, { zoom, duration });
  };
  const focus = (root: HTMLElement, id: string): void => {
    const card = () => root.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`);
    setCurrent(id);
    reveal(id, 0);
    // A card outside the view is rendered in the next frame.
    const found = card();
    if (found === null) requestAnimationFrame(() => card()?.focus({ preventScroll: true }));
    else found.focus({ preventScroll: true });
  };
  const showTarget = useEffectEvent((id: string | undefined, duration: number) => {
    reveal(id, duration);
    // The card that had the focus may be gone: the group that was expanded.
    if (id !== undefined && id === sought?.id && document.activeElement === document.body)
      focus(container.current!, id);
  });
  // The selection may come from elsewhere, such as the timeline.
  useEffect(() => showTarget(selected, reducedMotion ? 0 : PAN_MS), [selected, reducedMotion]);
  useEffect(() => showTarget(sought?.id, reducedMotion ? 0 : PAN_MS), [sought, reducedMotion]);
  const previousLayout = useRef(layout);
  const showLayout = useEffectEvent(() => {
    void flow.current?.setViewport(initialViewport(layout, size));
    showTarget(sought?.id ?? selected, 0);
  });
  useEffect(() => {
    if (previousLayout.current === layout) return;
    previousLayout.current = layout;
    showLayout();
  }, [layout]);

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
    else if (event.key === "Enter" || event.key === " ") activate(id);
    else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
  };
  /** Expands a group, or selects a step. */
  const activate = (id: string): void => {
    if (steps.find((step) => step.id === id)?.group !== undefined) onExpand(id);
    else onSelect?.(id);
  };
  const nextOf = (key: string, index: number): string | undefined => {
    if (key === "Home") return ids[0];
    if (key === "End") return ids.at(-1);
    const next = key.startsWith("Arrow") ? adjacentCard(layout, index, key as ArrowKey) : undefined;
    return next === undefined ? undefined : ids[next];
  };

  return (
    <ReactFlow<StepNode>
      ref={container}
      nodes={nodes}
      nodeTypes={NODE_TYPES}
      colorMode={scheme}
      aria-label={texts.graphLabel({ count })}
      tabIndex={isOnCard ? -1 : 0}
      onInit={(instance) => {
        flow.current = instance;
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
        "node.a11yDescription.default": isSelectable ? texts.keyboardHelpSelect : texts.keyboardHelp,
        "edge.a11yDescription.default": "",
        "controls.ariaLabel": texts.viewControls,
        "controls.zoomIn.ariaLabel": texts.zoomIn,
        "controls.zoomOut.ariaLabel": texts.zoomOut,
        "controls.fitView.ariaLabel": texts.fitView,
      }}
      onNodeClick={(_, { id }) => activate(id)}
      onFocus={onFocus}
      onBlur={() => setOnCard(false)}
      onKeyDown={onKeyDown}
      onTouchStartCapture={(event) => {
        // One finger scrolls the page instead of the graph.
        if (event.touches.length < 2) event.stopPropagation();
      }}
    >
      <StepLines edges={layout.edges} marked={marked === undefined ? -1 : ids.indexOf(marked)} />
      <Controls
        showInteractive={false}
        orientation="horizontal"
        fitViewOptions={{ padding: 0.08, maxZoom: 1, duration: reducedMotion ? 0 : PAN_MS }}
      />
      {nodes.length >= MAP.cards && size.width >= MAP.width && (
        <MiniMap<StepNode>
          pannable
          zoomable
          ariaLabel={texts.map}
          position="bottom-right"
          style={{ width: 160, height: 110 }}
          nodeColor={({ data: { step } }) => colorOf(step, step.id === marked)}
        />
      )}
      <Panel position="bottom-right" className="step-graph-hint">
        {texts.moveHint}
      </Panel>
    </ReactFlow>
  );
}

const idOf = (element: Element): string | undefined =>
  element.classList.contains("react-flow__node") ? (element as HTMLElement).dataset["id"] : undefined;

const colorOf = ({ status, group }: GraphStep, isShown: boolean): string => {
  if (isShown) return "var(--mantine-primary-color-filled)";
  const color = status === undefined ? "gray" : STATUS_STYLES[status].color;
  return `var(--mantine-color-${color}-${group === undefined ? 5 : 7})`;
};

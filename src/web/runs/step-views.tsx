/** The steps of a run as graph, timeline and list, and the panel of the selected step. */
import { Tabs, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useRef } from "react";
import { useSearchParams } from "react-router";
import type { RunStep } from "../../../schemas/run.ts";
import { graphSteps } from "../graph/steps.ts";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { LoadingSkeleton } from "../ui/page.tsx";
import { definitionQuery } from "./queries.ts";
import { StepList } from "./step-list.tsx";
import { StepPanel } from "./step-panel.tsx";
import type { LiveRun } from "./live-updates.ts";
import classes from "./step-views.module.css";
import { isUndoStep } from "./undo-steps.ts";

const StepGraph = lazy(() => import("../graph/step-graph.tsx"));
const RunTimeline = lazy(async () => ({
  default: (await import("../timeline/run-timeline.tsx")).RunTimeline,
}));

const VIEWS = ["graph", "timeline", "steps"] as const;
type View = (typeof VIEWS)[number];
/** Maximum number of steps for which the graph is the default view. */
const MAX_GRAPH_STEPS = 500;
/** Height of the panel that is scrolled into view when a step is selected, in pixels. */
const REVEALED_PX = 240;

interface StepViewsProps {
  run: LiveRun;
  /** The first steps with their attempts; undefined until loaded. */
  attempts: readonly RunStep[] | undefined;
  now: number;
}

export function StepViews({ run, attempts, now }: StepViewsProps) {
  const [params, setParams] = useSearchParams();
  const panel = useRef<HTMLDivElement>(null);
  const { steps } = run;
  const requested = VIEWS.find((view) => view === params.get("tab"));
  const view = requested ?? (steps.length > MAX_GRAPH_STEPS ? "timeline" : "graph");
  // A failed run opens at the step that failed.
  const requestedId = params.has("step") ? params.get("step") : run.failed_step?.id;
  const selected = steps.find(({ id }) => id === requestedId);
  const change = (write: (params: URLSearchParams) => void): void =>
    setParams(
      (before) => {
        write(before);
        return before;
      },
      { replace: true, preventScrollReset: true },
    );
  const select = (id: string): void => {
    change((to) => {
      to.set("step", id);
      to.delete("item");
    });
    // Scrolls to the panel but keeps the focus, so that the user can select another step.
    panel.current?.scrollIntoView({ block: "nearest" });
  };
  return (
    <div className={classes["views"]} data-selected={selected !== undefined}>
      <Tabs
        value={view}
        onChange={(to) => change((next) => next.set("tab", to ?? "graph"))}
        keepMounted={false}
      >
        <Tabs.List aria-label="Step views" mb="md">
          <Tabs.Tab value="graph">Graph</Tabs.Tab>
          <Tabs.Tab value="timeline">Timeline</Tabs.Tab>
          <Tabs.Tab value="steps">Steps ({steps.length.toLocaleString()})</Tabs.Tab>
        </Tabs.List>
        <Suspense fallback={<LoadingSkeleton rows={4} />}>
          <Tabs.Panel value={view}>
            <StepView
              view={view}
              run={run}
              attempts={attempts}
              now={now}
              selected={selected?.id}
              onSelect={select}
            />
          </Tabs.Panel>
        </Suspense>
      </Tabs>
      <div className={classes["panel"]}>
        <div ref={panel} style={{ scrollMarginBottom: REVEALED_PX }} />
        {selected === undefined ? (
          <Text size="sm" c="dimmed">
            {requestedId === null || requestedId === undefined || requestedId === ""
              ? "Select a step to see its input and output."
              : `This run has no step ${requestedId}.`}
          </Text>
        ) : (
          <StepPanel
            key={selected.id}
            run={run}
            step={selected}
            now={now}
            onClose={() =>
              change((to) => {
                to.set("step", "");
                to.delete("item");
              })
            }
          />
        )}
      </div>
    </div>
  );
}

interface StepViewProps extends StepViewsProps {
  view: View;
  selected: string | undefined;
  onSelect: (stepId: string) => void;
}

function StepView({ view, run, attempts, now, selected, onSelect }: StepViewProps) {
  const { steps, approvals } = run;
  const progress = useMemo(() => progressOfSteps(approvals), [approvals]);
  const withAttempts = useMemo(() => addAttempts(steps, attempts), [steps, attempts]);
  if (view === "steps") return <StepList steps={steps} now={now} selected={selected} onSelect={onSelect} />;
  if (view === "graph") return <RunGraph run={run} selected={selected} onSelect={onSelect} />;
  return (
    <RunTimeline
      steps={withAttempts}
      startedAt={run.started_at}
      finishedAt={run.finished_at}
      now={now}
      progress={progress}
      selected={selected}
      onSelect={onSelect}
    />
  );
}

/** How far each pending approval is that several people decide, by its step; of a fan-out, the oldest. */
const progressOfSteps = (approvals: LiveRun["approvals"] = []): ReadonlyMap<string, string> =>
  new Map(
    approvals
      .toReversed()
      .flatMap(({ step_id: id, progress }) => (progress === undefined ? [] : [[id, progress]])),
  );

function RunGraph({ run, selected, onSelect }: Pick<StepViewProps, "run" | "selected" | "onSelect">) {
  const definition = useQuery(definitionQuery(run.id));
  // Steps that undo others are no part of the graph.
  const steps = useMemo(() => run.steps.filter((step) => !isUndoStep(step)), [run.steps]);
  // Only the definition says which step needs which.
  const graph = useMemo(() => graphSteps(definition.data ?? null, steps), [definition.data, steps]);
  if (definition.isPending) return <LoadingSkeleton rows={4} />;
  return (
    <ErrorBoundary
      message="The graph could not be drawn. Use the timeline or the list instead."
      resetKey={graph}
    >
      <StepGraph steps={graph} selected={selected} onSelect={onSelect} />
    </ErrorBoundary>
  );
}

/** Adds the loaded attempts and iterations to the current steps. */
function addAttempts(steps: readonly RunStep[], attempts: readonly RunStep[] = []): RunStep[] {
  const loaded = new Map(attempts.map((step) => [step.id, step]));
  return steps.map((step) => {
    const { attempt_list: list, item_list: items } = loaded.get(step.id) ?? {};
    return {
      ...step,
      ...(list !== undefined && { attempt_list: list }),
      ...(items !== undefined && { item_list: items }),
    };
  });
}

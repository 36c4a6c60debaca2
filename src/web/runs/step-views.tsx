/** The steps of a run in three views, graph, timeline and list, and the step that is selected in any of them. */
import { Box, Tabs, Text } from "@mantine/core";
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
import type { ShownRun } from "./live-updates.ts";

const StepGraph = lazy(() => import("../graph/step-graph.tsx"));
const RunTimeline = lazy(async () => ({
  default: (await import("../timeline/run-timeline.tsx")).RunTimeline,
}));

const VIEWS = ["graph", "timeline", "steps"] as const;
type View = (typeof VIEWS)[number];
/** Beyond so many a graph is no picture any more: the timeline is shown first. */
const MOST_PICTURED = 500;
/** So much of the panel is brought into sight when a step is selected. */
const IN_SIGHT_PX = 240;

interface StepViewsProps {
  run: ShownRun;
  /** The first steps with their attempts, once they are there. */
  attempts: readonly RunStep[] | undefined;
  now: number;
}

export function StepViews({ run, attempts, now }: StepViewsProps) {
  const [params, setParams] = useSearchParams();
  const panel = useRef<HTMLDivElement>(null);
  const { steps } = run;
  const asked = VIEWS.find((view) => view === params.get("tab"));
  const view = asked ?? (steps.length > MOST_PICTURED ? "timeline" : "graph");
  // Whoever comes to a failed run wants to see where.
  const wanted = params.has("step") ? params.get("step") : run.failed_step?.id;
  const selected = steps.find(({ id }) => id === wanted);
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
    // The beginning of the panel may stand below what is in sight. The focus stays, so that others can be looked at.
    panel.current?.scrollIntoView({ block: "nearest" });
  };
  return (
    <>
      <Tabs
        value={view}
        onChange={(to) => change((next) => next.set("tab", to ?? "graph"))}
        keepMounted={false}
      >
        <Tabs.List aria-label="Views of the steps" mb="md">
          <Tabs.Tab value="graph">Graph</Tabs.Tab>
          <Tabs.Tab value="timeline">Timeline</Tabs.Tab>
          <Tabs.Tab value="steps">Steps ({steps.length.toLocaleString()})</Tabs.Tab>
        </Tabs.List>
        <Suspense fallback={<LoadingSkeleton rows={4} />}>
          <Tabs.Panel value={view}>
            <Shown
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
      <Box>
        <div ref={panel} style={{ scrollMarginBottom: IN_SIGHT_PX }} />
        {selected === undefined ? (
          <Text size="sm" c="dimmed">
            {wanted === null || wanted === undefined || wanted === ""
              ? "Select a step to see what it took and gave."
              : `This run has no step ${wanted}.`}
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
      </Box>
    </>
  );
}

interface ShownProps extends StepViewsProps {
  view: View;
  selected: string | undefined;
  onSelect: (stepId: string) => void;
}

function Shown({ view, run, attempts, now, selected, onSelect }: ShownProps) {
  const { steps } = run;
  const withAttempts = useMemo(() => joined(steps, attempts), [steps, attempts]);
  if (view === "steps") return <StepList steps={steps} now={now} selected={selected} onSelect={onSelect} />;
  if (view === "graph") return <RunGraph run={run} selected={selected} onSelect={onSelect} />;
  return (
    <RunTimeline
      steps={withAttempts}
      startedAt={run.started_at}
      finishedAt={run.finished_at}
      now={now}
      selected={selected}
      onSelect={onSelect}
    />
  );
}

function RunGraph({ run, selected, onSelect }: Pick<ShownProps, "run" | "selected" | "onSelect">) {
  const definition = useQuery(definitionQuery(run.id));
  const { steps } = run;
  // What follows what is only known from the definition.
  const drawn = useMemo(() => graphSteps(definition.data ?? null, steps), [definition.data, steps]);
  if (definition.isPending) return <LoadingSkeleton rows={4} />;
  return (
    <ErrorBoundary
      message="The graph could not be drawn. The other views show the same steps."
      resetKey={drawn}
    >
      <StepGraph steps={drawn} selected={selected} onSelect={onSelect} />
    </ErrorBoundary>
  );
}

/** The steps as they are now, with the attempts that were fetched for them. */
function joined(steps: readonly RunStep[], attempts: readonly RunStep[] = []): RunStep[] {
  const lists = new Map(attempts.map(({ id, attempt_list: list }) => [id, list]));
  return steps.map((step) => {
    const list = lists.get(step.id);
    return list === undefined ? step : { ...step, attempt_list: list };
  });
}

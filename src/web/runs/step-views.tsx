/** The steps of a run as graph, timeline and list, and the panel of the selected step. */
import { Box, Card, Tabs, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useRef } from "react";
import { useSearchParams } from "react-router";
import * as texts from "#texts/runs";
import type { RunStep } from "../../../schemas/run.ts";
import { type GraphStart, isStartId, withStarts } from "../graph/starts.ts";
import { graphSteps } from "../graph/steps.ts";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { LoadingSkeleton } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { Facts, StartFacts } from "./facts.tsx";
import { triggerLabel } from "./labels.ts";
import { STEP_PANEL_ID } from "./failing-step.tsx";
import { definitionQuery } from "./queries.ts";
import { StepList } from "./step-list.tsx";
import { StepPanel } from "./step-panel.tsx";
import type { LiveRun } from "./live-updates.ts";
import { isUndoStep } from "./undo-steps.ts";

const StepGraph = lazy(() => import("../graph/step-graph.tsx"));
const RunTimeline = lazy(async () => ({
  default: (await import("../timeline/run-timeline.tsx")).RunTimeline,
}));

const RunLog = lazy(async () => ({ default: (await import("./run-log.tsx")).RunLog }));

const VIEWS = ["graph", "timeline", "steps", "log"] as const;
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
  const isStart = isStartId(requestedId ?? "");
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
    <>
      <Tabs
        value={view}
        onChange={(to) => change((next) => next.set("tab", to ?? "graph"))}
        keepMounted={false}
      >
        <Tabs.List aria-label={texts.stepViews} mb="md">
          <Tabs.Tab value="graph">{texts.graph}</Tabs.Tab>
          <Tabs.Tab value="timeline">{texts.timeline}</Tabs.Tab>
          <Tabs.Tab value="steps">{texts.stepsTab({ count: steps.length })}</Tabs.Tab>
          <Tabs.Tab value="log">{texts.events}</Tabs.Tab>
        </Tabs.List>
        <Suspense fallback={<LoadingSkeleton rows={4} />}>
          <Tabs.Panel value={view}>
            <StepView
              view={view}
              run={run}
              attempts={attempts}
              now={now}
              selected={selected?.id ?? (isStart ? requestedId! : undefined)}
              onSelect={select}
            />
          </Tabs.Panel>
        </Suspense>
      </Tabs>
      <Box>
        <div
          ref={panel}
          id={STEP_PANEL_ID}
          style={{ scrollMarginBottom: REVEALED_PX, scrollMarginTop: 72 }}
        />
        {isStart ? (
          <StartPanel run={run} />
        ) : selected === undefined ? (
          <Text size="sm" c="dimmed">
            {requestedId === null || requestedId === undefined || requestedId === ""
              ? texts.selectStep
              : texts.runHasNoStep({ step: requestedId })}
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
  if (view === "log") return <RunLog run={run} onSelect={onSelect} />;
  if (view === "graph") return <RunGraph run={run} selected={selected} onSelect={onSelect} />;
  return (
    <RunTimeline
      steps={withAttempts}
      startedAt={run.started_at}
      finishedAt={run.finished_at}
      now={now}
      progress={progress}
      startedBy={<StartLine run={run} />}
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
  const { trigger, delivery } = run;
  const graph = useMemo(
    () =>
      withStarts(
        graphSteps(definition.data ?? null, steps),
        definition.data ?? null,
        startOf({ trigger, delivery }),
      ),
    [definition.data, steps, trigger, delivery],
  );
  if (definition.isPending) return <LoadingSkeleton rows={4} />;
  return (
    <ErrorBoundary message={texts.graphFailed} resetKey={graph}>
      <StepGraph steps={graph} selected={selected} onSelect={onSelect} />
    </ErrorBoundary>
  );
}

/** Which start of its definition has started a run; null for none of them. */
function startOf({ trigger, delivery }: Pick<LiveRun, "trigger" | "delivery">): GraphStart | null {
  if (trigger === "schedule" || trigger === "backfill") return { kind: "schedule" };
  return delivery === undefined ? null : { kind: "webhook", id: delivery.trigger };
}

/** "Started by: Webhook, delivery trd_… to pushed". */
function StartLine({ run }: { run: LiveRun }) {
  const { delivery, scheduled_for: time } = run;
  const trigger = triggerLabel(run);
  const started =
    delivery === undefined
      ? texts.startedBy({ trigger })
      : texts.startedByDelivery({ trigger, delivery: delivery.id, target: delivery.trigger });
  return (
    <Text size="sm">
      {time === undefined ? started : texts.startedFor({ started, time: <Time at={time} /> })}
    </Text>
  );
}

function StartPanel({ run }: { run: LiveRun }) {
  return (
    <Card withBorder component="section" aria-labelledby="start-heading" p={{ base: "sm", sm: "md" }}>
      <Title order={2} size="h4" mb="sm" id="start-heading">
        {texts.startedBy({ trigger: triggerLabel(run) })}
      </Title>
      <Facts>
        <StartFacts run={run} />
      </Facts>
    </Card>
  );
}

/** Adds the loaded attempts, iterations and approvals to the current steps. */
function addAttempts(steps: readonly RunStep[], attempts: readonly RunStep[] = []): RunStep[] {
  const loaded = new Map(attempts.map((step) => [step.id, step]));
  return steps.map((step) => {
    const { attempt_list: list, item_list: items, approval_list: approvals } = loaded.get(step.id) ?? {};
    return {
      ...step,
      ...(list !== undefined && { attempt_list: list }),
      ...(items !== undefined && { item_list: items }),
      ...(approvals !== undefined && { approval_list: approvals }),
    };
  });
}

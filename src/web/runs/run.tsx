/** A run with its status, inputs, output and steps; it updates live until the run ends. */
import { Group, Stack, Text } from "@mantine/core";
import { useThrottledValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "react-router";
import * as texts from "#texts/runs";
import { ApiError } from "../api/client.ts";
import { NotFoundHelp } from "../app/not-found-help.tsx";
import { useRecordVisit } from "../palette/recent.ts";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { Copy } from "../ui/copy.tsx";
import { ErrorAlert, Page, LoadingSkeleton } from "../ui/page.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { ValueView } from "../values/value-view.tsx";
import { RunActions } from "./actions.tsx";
import { RunFacts } from "./facts.tsx";
import { Folded } from "./folded.tsx";
import { type ConnectionState, useLiveRun } from "./use-live-run.ts";
import { ScrollableValue, Section } from "./section.tsx";
import { attemptsQuery, fullValueLoader } from "./queries.ts";
import { RunBanner } from "./run-banner.tsx";
import { runName } from "./run-name.ts";
import { StepViews } from "./step-views.tsx";
import { hasEnded, type LiveRun } from "./live-updates.ts";
import { isUndoStep } from "./undo-steps.ts";
import { useApprovalReports } from "./use-approval-reports.ts";
import { useWorkflowName } from "../workflows/workflow-name.tsx";
import { summarizeValue } from "./value-summary.ts";
import { useClock } from "./use-clock.ts";

export default function RunPage() {
  const { runId = "" } = useParams();
  // Keyed by run, so that no state of another run remains.
  return <RunLoader key={runId} runId={runId} />;
}

function RunLoader({ runId }: { runId: string }) {
  const { query, run, connection } = useLiveRun(runId);
  if (query.error instanceof ApiError && query.error.code === "run_not_found") {
    return (
      <Page title={texts.runNotFound}>
        <NotFoundHelp title={texts.noSuchRun} lookedFor={runId} words={[]}>
          {texts.runsArePurged}
        </NotFoundHelp>
      </Page>
    );
  }
  if (run === undefined) {
    return (
      <Page title={texts.runId({ id: runId })}>
        {query.isError ? (
          <ErrorAlert error={query.error} retry={() => void query.refetch()} />
        ) : (
          <LoadingSkeleton rows={8} />
        )}
      </Page>
    );
  }
  return <RunDetails run={run} connection={connection} />;
}

/** Minimum time between two requests for the attempts of an active run, in milliseconds. */
const ATTEMPTS_THROTTLE_MS = 3_000;

function RunDetails({ run, connection }: { run: LiveRun; connection: ConnectionState | undefined }) {
  const workflow = useWorkflowName(run.workflow_id);
  const name = workflow ?? runName(run);
  useRecordVisit({ kind: "run", id: run.id, label: texts.runOf({ name }) });
  const now = useClock(!hasEnded(run));
  const reports = useApprovalReports(run.steps);
  const revision = useThrottledValue(
    `${reports} ${run.status} ${run.steps.filter(({ status }) => status !== "pending").length} ${run.steps.reduce((sum, step) => sum + step.attempts, 0)}`,
    ATTEMPTS_THROTTLE_MS,
  );
  const attempts = useQuery({
    ...attemptsQuery(run.id, revision),
    enabled: run.steps.some(({ started_at: at }) => at !== null),
  });
  return (
    <Page
      title={texts.runOf({ name })}
      about={
        <Group gap="xs">
          <span>{run.id}</span>
          <Copy text={run.id} label={texts.runIdLabel} />
        </Group>
      }
      actions={<RunActions run={run} />}
    >
      <Group gap="sm">
        <Group gap="sm" aria-live="polite">
          <StatusBadge status={run.status} />
          <ProjectBadge project={run.project} />
          <Text size="sm">{progressOf(run)}</Text>
        </Group>
        {connection !== undefined && (
          <Text size="xs" c="dimmed" role="status">
            {texts.connection({ connection })}
          </Text>
        )}
      </Group>
      <RunBanner run={run} />
      {run.status === "succeeded" && (
        <Section title={texts.output} order={2}>
          <ScrollableValue label={texts.outputOfRun}>
            <ValueView
              value={run.output}
              label={texts.outputOfRun}
              loadFull={fullValueLoader(run.id, run.output)}
            />
          </ScrollableValue>
        </Section>
      )}
      <RunFacts run={run} usage={attempts.data?.usage ?? run.usage} now={now} />
      <Stack gap="xs">
        <FoldedValue title={texts.inputs} label={texts.inputsOfRun} run={run} value={run.inputs} />
        <FoldedValue title={texts.stateRead} label={texts.stateReadLabel} run={run} value={run.state} />
        <FoldedValue
          title={texts.stateCommitted}
          label={texts.stateCommittedLabel}
          run={run}
          value={run.committed}
        />
      </Stack>
      <Stack>
        <StepViews run={run} attempts={attempts.data?.steps} now={now} />
      </Stack>
    </Page>
  );
}

interface FoldedValueProps {
  title: string;
  label: string;
  run: LiveRun;
  value: unknown;
}

/** @param value undefined where the run has none: then nothing is shown */
function FoldedValue({ title, label, run, value }: FoldedValueProps) {
  if (value === undefined) return null;
  return (
    <Folded title={title} summary={summarizeValue(value)}>
      <ScrollableValue label={label}>
        <ValueView value={value} label={label} loadFull={fullValueLoader(run.id, value)} />
      </ScrollableValue>
    </Folded>
  );
}

function progressOf(run: LiveRun): string {
  if (run.stopping === true) return run.steps.some(isUndoStep) ? texts.undoing : texts.stopping;
  if (hasEnded(run) || run.progress === undefined) return "";
  return texts.stepsCompleted({ done: run.progress.done, total: run.progress.total });
}

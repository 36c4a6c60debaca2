/** A run with its status, inputs, output and steps; it updates live until the run ends. */
import { Group, Text } from "@mantine/core";
import { useThrottledValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "react-router";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { Copy } from "../ui/copy.tsx";
import { ErrorAlert, Page, LoadingSkeleton } from "../ui/page.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { CompareLink, RunActions } from "./actions.tsx";
import { RunFacts } from "./facts.tsx";
import { type ConnectionState, useLiveRun } from "./use-live-run.ts";
import { attemptsQuery } from "./queries.ts";
import { RunBanner } from "./run-banner.tsx";
import { RunName, useRunText } from "./run-name.tsx";
import { survivedFailuresLabel } from "./labels.ts";
import { FailedCount } from "./run-status.tsx";
import { FoldedValues, RunValues } from "./run-values.tsx";
import { StepViews } from "./step-views.tsx";
import { hasEnded, type LiveRun } from "./live-updates.ts";
import { isUndoStep } from "./undo-steps.ts";
import { useClock } from "./use-clock.ts";

export default function RunPage() {
  const { runId = "" } = useParams();
  // Keyed by run, so that no state of another run remains.
  return <RunLoader key={runId} runId={runId} />;
}

function RunLoader({ runId }: { runId: string }) {
  const { query, run, connection } = useLiveRun(runId);
  if (run === undefined) {
    return (
      <Page title={`Run ${runId}`}>
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
  const now = useClock(!hasEnded(run));
  const name = useRunText(run);
  const revision = useThrottledValue(
    `${run.status} ${run.steps.filter(({ status }) => status !== "pending").length} ${run.steps.reduce((sum, step) => sum + step.attempts, 0)}`,
    ATTEMPTS_THROTTLE_MS,
  );
  const attempts = useQuery({
    ...attemptsQuery(run.id, revision),
    enabled: run.steps.some(({ started_at: at }) => at !== null),
  });
  const steps = <StepViews run={run} attempts={attempts.data?.steps} now={now} />;
  return (
    <Page
      title={`Run of ${name}`}
      heading={
        <>
          Run of <RunName run={run} />
        </>
      }
      about={
        <Group gap="xs">
          <span>{run.id}</span>
          <Copy text={run.id} label="run ID" />
        </Group>
      }
      actions={
        <>
          {run.workflow_id !== null && <CompareLink runId={run.id} />}
          <RunActions run={run} />
        </>
      }
    >
      <Group gap="sm">
        <Group gap="sm" aria-live="polite">
          <StatusBadge status={run.status} />
          <FailedCount label={survivedFailuresLabel(run)} />
          <ProjectBadge project={run.project} />
          <Text size="sm">{progressOf(run)}</Text>
        </Group>
        {connection !== undefined && (
          <Text size="xs" c="dimmed" role="status">
            {CONNECTION_LABELS[connection]}
          </Text>
        )}
      </Group>
      <RunBanner run={run} />
      <RunFacts run={run} usage={attempts.data?.usage ?? run.usage} now={now} />
      {run.status === "failed" ? (
        <>
          {steps}
          <FoldedValues run={run} />
        </>
      ) : (
        <>
          <RunValues run={run} />
          {steps}
        </>
      )}
    </Page>
  );
}

const CONNECTION_LABELS: Readonly<Record<ConnectionState, string>> = {
  connecting: "Connecting…",
  live: "Live",
  reconnecting: "Reconnecting…",
  polling: "Updates every 3 s",
};

function progressOf(run: LiveRun): string {
  if (run.stopping === true) return run.steps.some(isUndoStep) ? "Undoing its steps…" : "Stopping…";
  if (hasEnded(run) || run.progress === undefined) return "";
  return `${run.progress.done} of ${run.progress.total} steps completed`;
}

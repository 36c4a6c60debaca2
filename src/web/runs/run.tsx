/** A run with its status, inputs, output and steps; it updates live until the run ends. */
import { Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { useThrottledValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "react-router";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { Copy } from "../ui/copy.tsx";
import { ErrorAlert, Page, LoadingSkeleton } from "../ui/page.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { ValueView } from "../values/value-view.tsx";
import { CompareLink, RunActions } from "./actions.tsx";
import { RunFacts } from "./facts.tsx";
import { type ConnectionState, useLiveRun } from "./use-live-run.ts";
import { ScrollableValue, Section } from "./section.tsx";
import { attemptsQuery, fullValueLoader } from "./queries.ts";
import { RunBanner } from "./run-banner.tsx";
import { RunName, useRunText } from "./run-name.tsx";
import { survivedFailuresLabel } from "./labels.ts";
import { FailedCount } from "./run-status.tsx";
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
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Section title="Inputs" order={2}>
          <ScrollableValue label="Inputs of the run">
            <ValueView
              value={run.inputs}
              label="Inputs of the run"
              loadFull={fullValueLoader(run.id, run.inputs)}
            />
          </ScrollableValue>
        </Section>
        {run.status === "succeeded" && (
          <Section title="Output" order={2}>
            <ScrollableValue label="Output of the run">
              <ValueView
                value={run.output}
                label="Output of the run"
                loadFull={fullValueLoader(run.id, run.output)}
              />
            </ScrollableValue>
          </Section>
        )}
        <RunState run={run} />
      </SimpleGrid>
      <Stack>
        <StepViews run={run} attempts={attempts.data?.steps} now={now} />
      </Stack>
    </Page>
  );
}

/** The state of the workflow that the run has read, and what it has committed. */
function RunState({ run }: { run: LiveRun }) {
  const values = [
    { title: "State read", label: "State that the run read", value: run.state },
    { title: "State committed", label: "State that the run committed", value: run.committed },
  ];
  return values
    .filter(({ value }) => value !== undefined)
    .map(({ title, label, value }) => (
      <Section key={title} title={title} order={2}>
        <ScrollableValue label={label}>
          <ValueView value={value} label={label} loadFull={fullValueLoader(run.id, value)} />
        </ScrollableValue>
      </Section>
    ));
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

/** The schedule of a workflow: its next runs, skipped runs, and pausing it. */
import { Alert, Badge, Button, Code, Group, List, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ScheduleState } from "../../../schemas/schedule-state.ts";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { QueryContent, LoadingSkeleton } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { Backfills } from "./backfills.tsx";
import { scheduleQuery, versionQuery } from "./queries.ts";
import { CronText, parseSchedule } from "./schedule-text.tsx";

export function SchedulePanel({ workflow }: { workflow: WorkflowWithDefinition }) {
  const { id, status, version, published_version: published, definition } = workflow;
  const isPublished = status === "published" && published !== null;
  const isBehind = isPublished && published !== version;
  const publishedVersion = useQuery({ ...versionQuery(id, published ?? version), enabled: isBehind });
  const activeDefinition = isBehind ? (publishedVersion.data?.definition ?? null) : definition;
  // Fetched only when the published version has a schedule.
  const enabled = isPublished && parseSchedule(activeDefinition) !== undefined;
  const query = useQuery({ ...scheduleQuery(id), enabled });
  const draftSchedule = parseSchedule(definition);
  if (isBehind && publishedVersion.data === undefined)
    return <QueryContent query={publishedVersion}>{() => null}</QueryContent>;
  if (!enabled) return <InactiveSchedule schedule={draftSchedule} />;
  return (
    <QueryContent query={query} skeleton={<LoadingSkeleton rows={2} />}>
      {(schedule) =>
        schedule === null ? (
          <InactiveSchedule schedule={draftSchedule} />
        ) : (
          <ActiveSchedule schedule={schedule} workflow={workflow} />
        )
      }
    </QueryContent>
  );
}

function InactiveSchedule({ schedule }: { schedule: ReturnType<typeof parseSchedule> }) {
  if (schedule === undefined) {
    return (
      <Text size="sm" c="dimmed">
        No schedule. Add a <Code>schedule</Code> to the definition to run the workflow automatically.
      </Text>
    );
  }
  return (
    <Text size="sm">
      <CronText cron={schedule.cron} /> ({schedule.timezone}). Starts when the workflow is published.
    </Text>
  );
}

function ActiveSchedule({
  schedule,
  workflow,
}: {
  schedule: ScheduleState;
  workflow: WorkflowWithDefinition;
}) {
  const may = useHasScopeIn(workflow);
  const { cron, timezone, paused, next_runs: next, last_at: last, skipped, overlap, warning } = schedule;
  return (
    <Stack gap="xs">
      <Group gap="xs" justify="space-between" wrap="nowrap" align="flex-start">
        <Text fw={600}>
          <CronText cron={cron} />
        </Text>
        {may("publish") && <PauseButton schedule={schedule} workflow={workflow} />}
      </Group>
      <Text size="sm" c="dimmed">
        <Code>{cron}</Code> in {timezone}. {overlap === "skip" ? "Skips" : "Queues"} a run while the previous
        one is still running.
      </Text>
      {paused ? (
        <Group gap="xs">
          <Badge variant="default" tt="none" leftSection={<IconPlayerPause size={12} aria-hidden />}>
            Paused
          </Badge>
          <Text size="sm">No runs start until you resume it.</Text>
        </Group>
      ) : (
        <div>
          <Text size="sm">Next runs (your time zone):</Text>
          <List size="sm" aria-label="Next runs">
            {next.map((at) => (
              <List.Item key={at}>
                <Time at={at} />
              </List.Item>
            ))}
          </List>
        </div>
      )}
      {last !== null && (
        <Text size="sm" c="dimmed">
          Last run: <Time at={last} />
        </Text>
      )}
      {warning !== undefined && (
        <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title="Runs less often than it says">
          <Text size="sm">{warning}</Text>
        </Alert>
      )}
      {skipped !== null && <Skipped skipped={skipped} />}
      <Backfills workflow={workflow} timezone={timezone} />
    </Stack>
  );
}

const REASONS = {
  overlap: "the previous run was still running",
  missed: "the service was not running",
  failed: "the run could not start",
  limit: "a limit of runs was reached",
};

/** Reasons that somebody must do something about. */
const PROBLEMS: ReadonlySet<string> = new Set(["failed", "limit"]);

function Skipped({ skipped }: { skipped: NonNullable<ScheduleState["skipped"]> }) {
  if (!PROBLEMS.has(skipped.reason)) return <SkippedText skipped={skipped} dimmed />;
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title="A scheduled run could not start">
      <SkippedText skipped={skipped} />
    </Alert>
  );
}

interface SkippedTextProps {
  skipped: NonNullable<ScheduleState["skipped"]>;
  dimmed?: boolean;
}

function SkippedText({ skipped, dimmed = false }: SkippedTextProps) {
  const { reason, count, first, last, message } = skipped;
  return (
    <Text size="sm" {...(dimmed && { c: "dimmed" })}>
      {count === 1 ? "1 run was skipped" : `${count} runs were skipped`} because {REASONS[reason]}:{" "}
      <Time at={first} />
      {count > 1 && (
        <>
          {" "}
          to <Time at={last} />
        </>
      )}
      . {message}
    </Text>
  );
}

function PauseButton({
  schedule: { paused },
  workflow: { id, name },
}: {
  schedule: ScheduleState;
  workflow: WorkflowWithDefinition;
}) {
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: () =>
      send(
        "post",
        paused ? "/workflows/{workflow_id}/schedule/resume" : "/workflows/{workflow_id}/schedule/pause",
        { path: { workflow_id: id }, header: idempotencyHeader(), body: {} },
      ),
    onSuccess: ({ data }) => {
      client.setQueryData(scheduleQuery(id).queryKey, data);
      notifySuccess(data.paused ? `Paused the schedule of “${name}”.` : `Resumed the schedule of “${name}”.`);
    },
    onError: (error) =>
      notifyError(`Could not ${paused ? "resume" : "pause"} the schedule of “${name}”`, error),
  });
  return (
    <Button
      size="xs"
      variant="default"
      style={{ flexShrink: 0 }}
      loading={change.isPending}
      leftSection={
        paused ? <IconPlayerPlay size={14} aria-hidden /> : <IconPlayerPause size={14} aria-hidden />
      }
      onClick={() => change.mutate()}
    >
      {paused ? "Resume" : "Pause"}
    </Button>
  );
}

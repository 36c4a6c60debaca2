/** When a workflow runs by itself: in words, its next times, what was left out, and holding it. */
import { Badge, Button, Code, Group, List, Stack, Text } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ScheduleState } from "../../../schemas/run.ts";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { useHasScope } from "../app/session.tsx";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { QueryContent, LoadingSkeleton } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { scheduleQuery, versionQuery } from "./queries.ts";
import { CronText, parseSchedule } from "./schedule-text.tsx";

export function SchedulePanel({ workflow }: { workflow: WorkflowWithDefinition }) {
  const { id, status, version, published_version: live, definition } = workflow;
  const isLive = status === "published" && live !== null;
  const isBehind = isLive && live !== version;
  const older = useQuery({ ...versionQuery(id, live ?? version), enabled: isBehind });
  const inForce = isBehind ? (older.data?.definition ?? null) : definition;
  // Asked for only where there is one.
  const enabled = isLive && parseSchedule(inForce) !== undefined;
  const query = useQuery({ ...scheduleQuery(id), enabled });
  const written = parseSchedule(definition);
  if (isBehind && older.data === undefined) return <QueryContent query={older}>{() => null}</QueryContent>;
  if (!enabled) return <NotYet written={written} />;
  return (
    <QueryContent query={query} skeleton={<LoadingSkeleton rows={2} />}>
      {(schedule) =>
        schedule === null ? <NotYet written={written} /> : <Live schedule={schedule} workflow={workflow} />
      }
    </QueryContent>
  );
}

function NotYet({ written }: { written: ReturnType<typeof parseSchedule> }) {
  if (written === undefined) {
    return (
      <Text size="sm" c="dimmed">
        None: it runs when it is started. A <Code>schedule</Code> in its definition runs it by itself.
      </Text>
    );
  }
  return (
    <Text size="sm">
      <CronText cron={written.cron} /> ({written.timezone}), once it is published.
    </Text>
  );
}

function Live({ schedule, workflow }: { schedule: ScheduleState; workflow: WorkflowWithDefinition }) {
  const may = useHasScope();
  const { cron, timezone, paused, next, last_at: last, skipped, overlap } = schedule;
  return (
    <Stack gap="xs">
      <Group gap="xs" justify="space-between" wrap="nowrap" align="flex-start">
        <Text fw={600}>
          <CronText cron={cron} />
        </Text>
        {may("write") && <PauseButton schedule={schedule} workflow={workflow} />}
      </Group>
      <Text size="sm" c="dimmed">
        <Code>{cron}</Code> in {timezone}; while a run goes on the next one{" "}
        {overlap === "skip" ? "is left out" : "waits its turn"}.
      </Text>
      {paused ? (
        <Group gap="xs">
          <Badge variant="default" tt="none" leftSection={<IconPlayerPause size={12} aria-hidden />}>
            paused
          </Badge>
          <Text size="sm">It makes no runs until it is resumed.</Text>
        </Group>
      ) : (
        <div>
          <Text size="sm">Next, in your time:</Text>
          <List size="sm" aria-label="Next times">
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
          Last: <Time at={last} />
        </Text>
      )}
      {skipped !== null && <Skipped skipped={skipped} />}
    </Stack>
  );
}

const REASONS = {
  overlap: "its last run still went on",
  missed: "nothing was there to run it",
  failed: "it could not be started",
};

function Skipped({ skipped }: { skipped: NonNullable<ScheduleState["skipped"]> }) {
  const { reason, count, first, last, message } = skipped;
  return (
    <Text size="sm" c="dimmed">
      {count === 1 ? "One time was left out" : `${count} times were left out`}, because {REASONS[reason]}:{" "}
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
      notifySuccess(
        data.paused ? `The schedule of “${name}” is paused.` : `The schedule of “${name}” goes on.`,
      );
    },
    onError: (error) => notifyError(`The schedule of “${name}” is as it was`, error),
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

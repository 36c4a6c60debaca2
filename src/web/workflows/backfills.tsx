/** The backfills of a workflow: how far each is, and cancelling it. */
import { Badge, Button, Group, Progress, Stack, Text } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import * as texts from "#texts/workflows";
import type { Backfill } from "../../../schemas/backfill.ts";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { writeFilters } from "../runs/filters.ts";
import { confirmAction } from "../ui/confirm.tsx";
import { linkTo } from "../ui/message-tags.tsx";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { backfillsQuery } from "./queries.ts";
import { rangeText } from "./range-text.ts";

const BackfillDialog = lazy(async () => ({
  default: (await import("./backfill-dialog.tsx")).BackfillDialog,
}));

interface BackfillsProps {
  workflow: WorkflowWithDefinition;
  timezone: string;
}

export function Backfills({ workflow, timezone }: BackfillsProps) {
  const may = useHasScopeIn(workflow);
  const [opened, setOpened] = useState(false);
  const { data } = useQuery(backfillsQuery(workflow.id));
  const backfills = data ?? [];
  if (backfills.length === 0 && !may("run")) return null;
  return (
    <Stack gap="xs" component="section" aria-label={texts.backfills}>
      {may("run") && (
        <Group>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconHistory size={14} aria-hidden />}
            onClick={() => setOpened(true)}
          >
            {texts.backfillTitle}
          </Button>
        </Group>
      )}
      {backfills.map((backfill) => (
        <BackfillRow key={backfill.id} backfill={backfill} mayCancel={may("run")} />
      ))}
      <Suspense>
        {opened && (
          <BackfillDialog workflow={workflow} timezone={timezone} onClose={() => setOpened(false)} />
        )}
      </Suspense>
    </Stack>
  );
}

const COLORS = { running: "blue", finished: "green", failed: "red", cancelled: "gray" } as const;

function BackfillRow({ backfill, mayCancel }: { backfill: Backfill; mayCancel: boolean }) {
  const { id, workflow_id: workflow, status, slots, runs, message } = backfill;
  const handled = slots.started + slots.skipped;
  const failed = runs.failed ?? 0;
  const list = writeFilters({ workflow, backfill: id, status: [] });
  return (
    <Stack gap={4}>
      <Group gap="xs" justify="space-between" wrap="nowrap" align="flex-start">
        <Text size="sm">{texts.pastRuns({ range: rangeText(backfill) })}</Text>
        <Badge
          variant="light"
          color={COLORS[status]}
          tt="none"
          style={{ flexShrink: 0 }}
          styles={{ label: { color: "var(--mantine-color-text)" } }}
        >
          {texts.backfillStatus({ status })}
        </Badge>
      </Group>
      {status === "running" && (
        <Progress
          value={(handled / slots.total) * 100}
          aria-label={texts.timesHandled({ handled, total: slots.total })}
        />
      )}
      <Group gap="xs" justify="space-between">
        <Text size="sm" c="dimmed">
          {texts.backfillProgress({
            started: slots.started,
            total: slots.total,
            skipped: slots.skipped,
            failed,
            link: linkTo(`/runs?${list.toString()}`, { size: "sm", underline: "always" }),
          })}
        </Text>
        {status === "running" && mayCancel && <CancelButton id={id} workflow={workflow} left={slots.left} />}
      </Group>
      {message !== null && <Text size="sm">{message}</Text>}
    </Stack>
  );
}

function CancelButton({ id, workflow, left }: { id: string; workflow: string; left: number }) {
  const client = useQueryClient();
  const cancel = useSingleFlightMutation({
    mutationFn: () =>
      send("post", "/workflows/{workflow_id}/backfills/{backfill_id}/cancel", {
        path: { workflow_id: workflow, backfill_id: id },
        header: idempotencyHeader(),
        body: { running: false },
      }),
    onSuccess: () => notifySuccess(texts.backfillStopped),
    onError: (error) => notifyError(texts.backfillStopFailed, error),
    onSettled: () => client.invalidateQueries({ queryKey: backfillsQuery(workflow).queryKey }),
  });
  return (
    <Button
      size="compact-xs"
      variant="default"
      loading={cancel.isPending}
      onClick={() =>
        confirmAction({
          title: texts.stopBackfillTitle,
          consequence: texts.stopBackfillHelp({ count: left }),
          confirm: texts.startNoMore,
          onConfirm: () => cancel.mutate(undefined),
        })
      }
    >
      {texts.stop}
    </Button>
  );
}

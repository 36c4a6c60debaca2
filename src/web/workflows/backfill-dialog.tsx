/** Starts a backfill: the range, and what it would start. */
import {
  Alert,
  Button,
  Group,
  Modal,
  NumberInput,
  ScrollArea,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
} from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import * as uiTexts from "#texts/ui";
import * as texts from "#texts/workflows";
import type { BackfillPreview, ExistingRuns } from "../../../schemas/backfill.ts";
import type { Workflow } from "../../../schemas/workflow.ts";
import { ApiError, send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { issueText } from "../forms/issues.ts";
import { RunLink } from "../runs/facts.tsx";
import { notifySuccess } from "../ui/notify.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { backfillsQuery } from "./queries.ts";

const EXISTING: readonly { value: ExistingRuns; label: string }[] = [
  { value: "skip", label: texts.existing({ existing: "skip" }) },
  { value: "repeat_failed", label: texts.existing({ existing: "repeat_failed" }) },
  { value: "repeat", label: texts.existing({ existing: "repeat" }) },
];
/** Number of times that the preview shows. */
const SHOWN_SLOTS = 100;

interface BackfillDialogProps {
  workflow: Pick<Workflow, "id" | "name">;
  timezone: string;
  onClose: () => void;
}

export function BackfillDialog({ workflow: { id, name }, timezone, onClose }: BackfillDialogProps) {
  const client = useQueryClient();
  const [range, setRange] = useState<{
    from: string;
    to: string;
    concurrency: number;
    existing: ExistingRuns;
  }>({ from: "", to: "", concurrency: 1, existing: "skip" });
  const preview = useMutation({
    mutationFn: async () =>
      (
        await send("get", "/workflows/{workflow_id}/backfill-preview", {
          path: { workflow_id: id },
          query: range,
        })
      ).data,
  });
  const start = useMutation({
    mutationFn: () =>
      send("post", "/workflows/{workflow_id}/backfills", {
        path: { workflow_id: id },
        header: idempotencyHeader(),
        body: range,
      }),
    onSuccess: async ({ data }) => {
      notifySuccess(texts.backfillStarted({ count: data.slots.total, name }));
      await client.invalidateQueries({ queryKey: backfillsQuery(id).queryKey });
      onClose();
    },
  });
  const change = (part: Partial<typeof range>): void => {
    setRange({ ...range, ...part });
    preview.reset();
    start.reset();
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!event.currentTarget.checkValidity()) return event.currentTarget.reportValidity();
    return preview.data === undefined ? preview.mutate() : start.mutate();
  };
  const error = start.error ?? preview.error;
  const issues = (error instanceof ApiError && error.problem.errors) || [];
  useRestoreFocus();
  return (
    <Modal opened onClose={onClose} title={texts.backfillTitle} size="lg" centered>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <Text size="sm">{texts.backfillHelp}</Text>
          <Group grow align="flex-start" preventGrowOverflow={false} wrap="wrap">
            <Day
              label={texts.backfillFrom({ timezone })}
              value={range.from}
              onChange={(from) => change({ from })}
            />
            <Day label={texts.backfillTo({ timezone })} value={range.to} onChange={(to) => change({ to })} />
          </Group>
          <Group grow align="flex-start" preventGrowOverflow={false} wrap="wrap">
            <NumberInput
              label={texts.runsAtATime}
              min={1}
              max={20}
              clampBehavior="strict"
              allowDecimal={false}
              value={range.concurrency}
              onChange={(value) => change({ concurrency: Number(value) || 1 })}
            />
            <Select
              label={texts.timesWithRun}
              data={[...EXISTING]}
              value={range.existing}
              allowDeselect={false}
              onChange={(value) => change({ existing: value ?? "skip" })}
            />
          </Group>
          {preview.data !== undefined && <Preview preview={preview.data} />}
          {issues.length > 0 ? (
            <Alert color="red" role="alert" title={texts.checkRange}>
              <Text size="sm">{issueText(issues)}</Text>
            </Alert>
          ) : (
            error !== null && <ErrorAlert error={error} />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button
              type="submit"
              loading={preview.isPending || start.isPending}
              disabled={preview.data?.starts === 0}
            >
              {preview.data === undefined ? texts.showTimes : texts.startRuns({ count: preview.data.starts })}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface DayProps {
  label: string;
  value: string;
  onChange: (day: string) => void;
}

const Day = ({ label, value, onChange }: DayProps) => (
  <TextInput
    type="date"
    label={label}
    required
    value={value}
    onChange={({ currentTarget: { value: day } }) => onChange(day)}
  />
);

function Preview({
  preview: { slots, total, starts, version, timezone, warnings },
}: {
  preview: BackfillPreview;
}) {
  return (
    <Stack gap="xs" role="status">
      <Text size="sm" fw={600}>
        {texts.backfillPreview({ total, starts, version })}
      </Text>
      {warnings.map((warning) => (
        <Alert key={warning} color="yellow" title={texts.beforeYouStart}>
          <Text size="sm">{warning}</Text>
        </Alert>
      ))}
      <ScrollArea.Autosize
        mah={240}
        viewportProps={{ tabIndex: 0, role: "region", "aria-label": texts.times }}
      >
        <Table verticalSpacing={4} aria-label={texts.times}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.timeColumn({ timezone })}</Table.Th>
              <Table.Th>{texts.run}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {slots.slice(0, SHOWN_SLOTS).map(({ at, local, action, run_id: run, run_status: status }) => (
              <Table.Tr key={at}>
                <Table.Td style={{ whiteSpace: "nowrap" }}>{local.replace("T", " ")}</Table.Td>
                <Table.Td>
                  {run === undefined
                    ? texts.slotAction({ action })
                    : texts.slotActionOfRun({
                        action,
                        run: (
                          <RunLink id={run}>
                            {status === undefined ? undefined : uiTexts.status({ status })}
                          </RunLink>
                        ),
                      })}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
      {total > SHOWN_SLOTS && (
        <Text size="sm" c="dimmed">
          {texts.moreTimes({ count: total - Math.min(slots.length, SHOWN_SLOTS) })}
        </Text>
      )}
    </Stack>
  );
}

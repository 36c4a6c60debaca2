/** Runs as a table, and as cards in a narrow window. */
import { Anchor, Box, Card, Checkbox, Group, Stack, Table, Text, VisuallyHidden } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import * as texts from "#texts/runs";
import type { RunSummary } from "../../../schemas/run.ts";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { Time } from "../ui/time.tsx";
import { useNow } from "../ui/now.ts";
import { firstSentence } from "./failure.ts";
import { formatElapsed } from "./elapsed.ts";
import { triggerLabel } from "./labels.ts";
import { RunMenu } from "./run-menu.tsx";
import { runName } from "./run-name.ts";
import type { Selection } from "./use-selection.ts";

interface RunRowsProps {
  runs: readonly RunSummary[];
  /** The runs belong to the previous filters. */
  stale: boolean;
  selection: Selection;
}

export function RunRows({ runs, stale, selection }: RunRowsProps) {
  const now = useNow();
  const all = runs.every(({ id }) => selection.has(id));
  const some = !all && runs.some(({ id }) => selection.has(id));
  return (
    <Box aria-busy={stale} opacity={stale ? 0.6 : 1}>
      <Table aria-label={texts.runs} highlightOnHover verticalSpacing="sm" visibleFrom="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={40}>
              <Checkbox
                size="xs"
                aria-label={texts.selectAll}
                checked={all}
                indeterminate={some}
                onChange={(event) => selection.setAll(event.currentTarget.checked)}
              />
            </Table.Th>
            <Table.Th>{texts.status}</Table.Th>
            <Table.Th>{texts.workflow}</Table.Th>
            <Table.Th>{texts.created}</Table.Th>
            <Table.Th>{texts.duration}</Table.Th>
            <Table.Th>{texts.trigger}</Table.Th>
            <Table.Th w={48}>
              <VisuallyHidden>{texts.actions}</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {runs.map((run) => (
            <Table.Tr key={run.id} style={{ verticalAlign: "top" }}>
              <Table.Td>
                <SelectRun run={run} selection={selection} />
              </Table.Td>
              <Table.Td w={140}>
                <StatusBadge status={run.status} />
              </Table.Td>
              <Table.Td>
                <RunName run={run} />
                <FailureReason run={run} />
              </Table.Td>
              <Table.Td>
                <Time at={run.created_at} ago />
                {run.scheduled_for !== undefined && (
                  <Text size="xs" c="dimmed">
                    {texts.scheduledAt({ time: <Time at={run.scheduled_for} /> })}
                  </Text>
                )}
              </Table.Td>
              <Table.Td style={{ whiteSpace: "nowrap" }}>{durationLabel(run, now)}</Table.Td>
              <Table.Td>{triggerLabel(run)}</Table.Td>
              <Table.Td>
                <RunMenu run={run} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Stack
        gap="sm"
        hiddenFrom="sm"
        component="ul"
        m={0}
        p={0}
        aria-label={texts.runs}
        style={{ listStyle: "none" }}
      >
        {runs.map((run) => (
          <Card key={run.id} withBorder component="li" p="sm">
            <Stack gap={6}>
              <Group justify="space-between" wrap="nowrap" align="flex-start">
                <Group gap="xs" wrap="nowrap" align="flex-start" miw={0}>
                  <SelectRun run={run} selection={selection} />
                  <RunName run={run} />
                </Group>
                <Group gap={4} wrap="nowrap">
                  <StatusBadge status={run.status} />
                  <RunMenu run={run} />
                </Group>
              </Group>
              <FailureReason run={run} />
              <Text size="sm" c="dimmed">
                <Time at={run.created_at} ago />
                {run.started_at !== null && ` · ${durationLabel(run, now)}`} · {triggerLabel(run)}
                {run.scheduled_for !== undefined && (
                  <>
                    {" · "}
                    {texts.scheduledAt({ time: <Time at={run.scheduled_for} /> })}
                  </>
                )}
              </Text>
            </Stack>
          </Card>
        ))}
      </Stack>
    </Box>
  );
}

function SelectRun({ run, selection }: { run: RunSummary; selection: Selection }) {
  return (
    <Checkbox
      size="xs"
      mt={3}
      aria-label={texts.selectRun({ name: runName(run), id: run.id })}
      checked={selection.has(run.id)}
      onChange={() => selection.toggle(run.id)}
    />
  );
}

const linkToWorkflow = (id: string, name: string) => (text: ReactNode) => (
  <Anchor
    component={Link}
    to={`/workflows/${id}`}
    inherit
    c="dimmed"
    underline="always"
    aria-label={texts.workflowNamed({ name })}
  >
    {text}
  </Anchor>
);

function RunName({ run }: { run: RunSummary }) {
  const { id, workflow_id: workflow, version, project } = run;
  return (
    <Box miw={0} style={{ overflowWrap: "anywhere" }}>
      <Anchor component={Link} to={`/runs/${id}`} fw={500} size="sm">
        {runName(run)}
      </Anchor>
      {workflow === null ? (
        <Text size="xs" c="dimmed">
          {texts.runWithoutWorkflow({ id })}
        </Text>
      ) : (
        <Text size="xs" c="dimmed">
          {texts.runOfVersion({
            id,
            version: version ?? "",
            link: linkToWorkflow(workflow, runName(run)),
          })}
        </Text>
      )}
      <ProjectBadge project={project} inList />
    </Box>
  );
}

function FailureReason({ run: { status, error, continued_failures: continued = 0 } }: { run: RunSummary }) {
  if (status !== "failed" || error === null) {
    return continued === 0 ? null : (
      <Text size="sm" c="red" mt={2}>
        {texts.continuedFailures({ count: continued })}
      </Text>
    );
  }
  return (
    <Text size="sm" c="red" mt={2} style={{ overflowWrap: "anywhere" }}>
      {error.step_id !== undefined && `${error.step_id}: `}
      {firstSentence(error.message)}
    </Text>
  );
}

const durationLabel = ({ started_at: from, finished_at: to }: RunSummary, now: number): string =>
  from === null ? texts.notStarted : formatElapsed(from, to, now);

/** Runs as a table, and as cards in a narrow window. */
import { Anchor, Box, Card, Checkbox, Group, Stack, Table, Text } from "@mantine/core";
import { Link } from "react-router";
import type { RunSummary } from "../../../schemas/run.ts";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { Id } from "../ui/id.tsx";
import { Time } from "../ui/time.tsx";
import { useNow } from "../ui/now.ts";
import { WorkflowName } from "../workflows/names.tsx";
import { firstSentence } from "./failure.ts";
import { formatElapsed } from "./elapsed.ts";
import { triggerLabel } from "./labels.ts";
import { RunName } from "./run-name.tsx";
import { RunStatus } from "./run-status.tsx";
import { useKnownTime } from "./use-clock.ts";
import type { RunSelection } from "./use-run-selection.ts";

interface RunRowsProps {
  runs: readonly RunSummary[];
  /** The runs belong to the previous filters. */
  stale: boolean;
  selection: RunSelection;
}

export function RunRows({ runs, stale, selection }: RunRowsProps) {
  const now = useKnownTime(useNow());
  return (
    <Box aria-busy={stale} opacity={stale ? 0.6 : 1}>
      <Table aria-label="Runs" highlightOnHover verticalSpacing="sm" visibleFrom="sm">
        <Table.Thead>
          <Table.Tr>
            {selection.isPossible && (
              <Table.Th w={40}>
                <SelectAll selection={selection} />
              </Table.Th>
            )}
            <Table.Th>Status</Table.Th>
            <Table.Th>Workflow</Table.Th>
            <Table.Th>Created</Table.Th>
            <Table.Th>Duration</Table.Th>
            <Table.Th>Trigger</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {runs.map((run) => (
            <Table.Tr key={run.id} style={{ verticalAlign: "top" }}>
              {selection.isPossible && (
                <Table.Td>
                  <SelectRun run={run} selection={selection} />
                </Table.Td>
              )}
              <Table.Td w={140}>
                <RunStatus run={run} />
              </Table.Td>
              <Table.Td>
                <NameCell run={run} />
                <FailureReason run={run} />
              </Table.Td>
              <Table.Td>
                <Time at={run.created_at} ago />
              </Table.Td>
              <Table.Td style={{ whiteSpace: "nowrap" }}>{durationLabel(run, now)}</Table.Td>
              <Table.Td>{triggerLabel(run)}</Table.Td>
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
        aria-label="Runs"
        style={{ listStyle: "none" }}
      >
        {runs.map((run) => (
          <Card key={run.id} withBorder component="li" p="sm">
            <Stack gap={6}>
              <Group justify="space-between" wrap="nowrap" align="flex-start">
                <Group gap="sm" wrap="nowrap" align="flex-start" miw={0}>
                  <SelectRun run={run} selection={selection} />
                  <NameCell run={run} />
                </Group>
                <RunStatus run={run} />
              </Group>
              <FailureReason run={run} />
              <Text size="sm" c="dimmed">
                <Time at={run.created_at} ago />
                {run.started_at !== null && ` · ${durationLabel(run, now)}`} · {triggerLabel(run)}
              </Text>
            </Stack>
          </Card>
        ))}
      </Stack>
    </Box>
  );
}

/** Selects all listed runs. @param label shown beside it; without it the checkbox has a label for screen readers */
export function SelectAll({ selection, label }: { selection: RunSelection; label?: string }) {
  const { isAllSelected, selected, selectAll } = selection;
  return (
    <Checkbox
      size="sm"
      {...(label === undefined ? { "aria-label": "Select all listed runs" } : { label })}
      checked={isAllSelected}
      indeterminate={!isAllSelected && selected.length > 0}
      onChange={({ currentTarget }) => selectAll(currentTarget.checked)}
    />
  );
}

/** Nothing for a run that the user can neither retry nor cancel. */
function SelectRun({ run, selection }: { run: RunSummary; selection: RunSelection }) {
  if (!selection.canSelect(run)) return null;
  return (
    <Checkbox
      size="sm"
      aria-label={`Select ${run.id}`}
      checked={selection.isSelected(run)}
      onChange={({ currentTarget }) => selection.select(run, currentTarget.checked)}
    />
  );
}

function NameCell({ run }: { run: RunSummary }) {
  const { id, workflow_id: workflow, version, project } = run;
  return (
    <Box miw={0} style={{ overflowWrap: "anywhere" }}>
      <Anchor component={Link} to={`/runs/${id}`} fw={500} size="sm" lineClamp={3}>
        <RunName run={run} />
      </Anchor>
      {workflow === null ? (
        <Text size="xs" c="dimmed">
          {id} · no workflow
        </Text>
      ) : (
        <Text size="xs" c="dimmed">
          {id} · v{version} ·{" "}
          <Anchor component={Link} to={`/workflows/${workflow}`} inherit c="dimmed" underline="always">
            workflow
            <span className="visually-hidden">
              {" "}
              <WorkflowName id={workflow} />
            </span>
          </Anchor>
        </Text>
      )}
      <ProjectBadge project={project} inList />
    </Box>
  );
}

function FailureReason({ run: { status, error, continued_failures: continued = 0 } }: { run: RunSummary }) {
  if (status !== "failed" || error === null) {
    return continued === 0 ? null : (
      <Text size="sm" c="var(--mantine-color-error)" mt={2}>
        {continued === 1 ? "A step" : `${continued} steps`} failed, and the run continued.
      </Text>
    );
  }
  return (
    <Text size="sm" c="var(--mantine-color-error)" mt={2} style={{ overflowWrap: "anywhere" }}>
      {error.step_id !== undefined && (
        <>
          <Id>{error.step_id}</Id>:{" "}
        </>
      )}
      {firstSentence(error.message)}
    </Text>
  );
}

const durationLabel = ({ started_at: from, finished_at: to }: RunSummary, now: number): string =>
  from === null ? "not started" : formatElapsed(from, to, now);

/** The runs of a bulk action with what happened with each: a table, and cards in a narrow window. */
import { Anchor, Box, Card, Group, Stack, Table, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import type { BulkAction, BulkActionRun } from "../../../schemas/bulk-action.ts";
import { EmptyState } from "../ui/page.tsx";
import { FilterButtons } from "../ui/filter-buttons.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { Time } from "../ui/time.tsx";
import { useFilters } from "../ui/use-filters.ts";
import { WorkflowName } from "../workflows/names.tsx";
import { bulkActionRunsQuery } from "./queries.ts";
import { ResultBadge } from "./status-badge.tsx";
import { DONE, readResult, skipLabel } from "./texts.ts";

interface RunTableProps {
  id: string;
  bulkAction: BulkAction;
}

/** The filter is part of the URL. */
export function RunTable({ id, bulkAction }: RunTableProps) {
  const { action, runs: counts } = bulkAction;
  const [params, setFilter] = useFilters();
  const shown = readResult(params, action);
  const runs = useInfiniteQuery(bulkActionRunsQuery(id, bulkAction, shown));
  return (
    <Stack gap="sm">
      <FilterButtons
        options={[
          { value: undefined, label: "all", count: counts.total },
          { value: DONE[action], label: DONE[action], count: counts.done },
          { value: "skipped", label: "skipped", count: counts.skipped },
        ]}
        shown={shown}
        onChange={(result) => setFilter("result", result ?? "")}
      />
      <PagedList
        query={runs}
        empty={<EmptyState title="No such runs">No run of this bulk action has this result.</EmptyState>}
      >
        {(items) => (
          <Box aria-busy={runs.isPlaceholderData} opacity={runs.isPlaceholderData ? 0.6 : 1}>
            <WideTable runs={items} action={action} />
            <Cards runs={items} action={action} />
          </Box>
        )}
      </PagedList>
    </Stack>
  );
}

interface RunsProps {
  runs: readonly BulkActionRun[];
  action: BulkAction["action"];
}

function WideTable({ runs, action }: RunsProps) {
  return (
    <Table aria-label="Runs" highlightOnHover verticalSpacing="xs" visibleFrom="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Run</Table.Th>
          <Table.Th>Result</Table.Th>
          {action === "retry" && <Table.Th>Retry</Table.Th>}
          <Table.Th>Reason</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {runs.map((run) => (
          <Table.Tr key={run.run_id} style={{ verticalAlign: "top" }}>
            <Table.Td>
              <RunName run={run} />
            </Table.Td>
            <Table.Td>
              <ResultBadge result={run.result} />
            </Table.Td>
            {action === "retry" && (
              <Table.Td>
                <Retry run={run} />
              </Table.Td>
            )}
            <Table.Td>
              <Reason run={run} action={action} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Cards({ runs, action }: RunsProps) {
  return (
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
        <Card key={run.run_id} withBorder component="li" p="sm">
          <Stack gap={6}>
            <Group justify="space-between" wrap="nowrap" align="flex-start">
              <RunName run={run} />
              <ResultBadge result={run.result} />
            </Group>
            <Retry run={run} label="Retry: " />
            <Reason run={run} action={action} />
          </Stack>
        </Card>
      ))}
    </Stack>
  );
}

function RunName({
  run: { run_id: id, created_at: at, status, workflow_id: workflow },
}: {
  run: BulkActionRun;
}) {
  return (
    <Box miw={0} style={{ overflowWrap: "anywhere" }}>
      <Anchor component={Link} to={`/runs/${id}`} size="sm" fw={500}>
        {at === undefined ? id : <Time at={at} />}
      </Anchor>
      <Text size="xs" c="dimmed">
        {at !== undefined && `${id} · `}
        {typeof workflow === "string" && (
          <>
            <WorkflowName id={workflow} /> ·{" "}
          </>
        )}
        {status ?? "purged"}
      </Text>
    </Box>
  );
}

function Retry({ run: { retry, retry_status: status }, label = "" }: { run: BulkActionRun; label?: string }) {
  if (retry === null) return null;
  return (
    <Group gap="xs" wrap="wrap">
      <Text size="sm">
        {label}
        <Anchor component={Link} to={`/runs/${retry}`} inherit>
          {retry}
        </Anchor>
      </Text>
      {status === undefined ? <Text size="sm">purged</Text> : <StatusBadge status={status} />}
    </Group>
  );
}

function Reason({ run: { reason, message }, action }: { run: BulkActionRun; action: BulkAction["action"] }) {
  if (reason === undefined && message === undefined) return null;
  return (
    <Text size="sm" style={{ overflowWrap: "anywhere" }}>
      {[
        ...(reason === undefined ? [] : [skipLabel(reason, action)]),
        ...(message === undefined ? [] : [message]),
      ].join(": ")}
    </Text>
  );
}

import { Anchor, Group, Table, Text, VisuallyHidden } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import * as texts from "#texts/workflows";
import type { RunSummary } from "../../../schemas/run.ts";
import { writeFilters } from "../runs/filters.ts";
import { triggerLabel } from "../runs/labels.ts";
import { RunMenu } from "../runs/run-menu.tsx";
import { formatDuration, Time } from "../ui/time.tsx";
import { QueryContent, LoadingSkeleton } from "../ui/page.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { recentRunsQuery } from "./queries.ts";

interface RecentRunsProps {
  workflowId: string;
  /** The project to which the list of all runs is filtered; left out while all projects are shown. */
  project?: string | undefined;
}

export function RecentRuns({ workflowId, project }: RecentRunsProps) {
  const query = useQuery(recentRunsQuery(workflowId));
  const allRuns = writeFilters({ workflow: workflowId, status: [] });
  if (project !== undefined) allRuns.set("project", project);
  return (
    <QueryContent query={query} skeleton={<LoadingSkeleton rows={3} />}>
      {(runs) =>
        runs.length === 0 ? (
          <Text size="sm" c="dimmed">
            {texts.noRunsYet}
          </Text>
        ) : (
          <>
            <Table verticalSpacing={6} horizontalSpacing="xs" aria-label={texts.recentRuns}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{texts.run}</Table.Th>
                  <Table.Th>{texts.statusColumn}</Table.Th>
                  <Table.Th visibleFrom="xs">{texts.trigger}</Table.Th>
                  <Table.Th visibleFrom="xs">{texts.duration}</Table.Th>
                  <Table.Th w={40}>
                    <VisuallyHidden>{texts.actions}</VisuallyHidden>
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {runs.map((run) => (
                  <Row key={run.id} run={run} />
                ))}
              </Table.Tbody>
            </Table>
            <Group mt="xs">
              <Anchor component={Link} to={`/runs?${allRuns.toString()}`} size="sm">
                {texts.allRuns}
              </Anchor>
            </Group>
          </>
        )
      }
    </QueryContent>
  );
}

function Row({ run }: { run: RunSummary }) {
  const { id, status, version, created_at: at, started_at: from, finished_at: to } = run;
  const { scheduled_for: time } = run;
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} to={`/runs/${id}`} size="sm">
          <Time at={at} ago />
        </Anchor>{" "}
        <Text span size="xs" c="dimmed">
          {texts.shortVersion({ version: version ?? "" })}
        </Text>
        {time !== undefined && (
          <Text size="xs" c="dimmed">
            {texts.scheduledFor({ time: <Time at={time} /> })}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <StatusBadge status={status} />
      </Table.Td>
      <Table.Td visibleFrom="xs">{triggerLabel(run)}</Table.Td>
      <Table.Td visibleFrom="xs">
        {from !== null && to !== null ? formatDuration(Date.parse(to) - Date.parse(from)) : "–"}
      </Table.Td>
      <Table.Td>
        <RunMenu run={run} />
      </Table.Td>
    </Table.Tr>
  );
}

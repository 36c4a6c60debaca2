import { Anchor, Group, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { writeFilters } from "../runs/filters.ts";
import { triggerLabel } from "../runs/labels.ts";
import { RunStatus } from "../runs/run-status.tsx";
import { formatDuration } from "../ui/duration.ts";
import { Time } from "../ui/time.tsx";
import { QueryContent, LoadingSkeleton } from "../ui/page.tsx";
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
            No runs yet.
          </Text>
        ) : (
          <>
            <Table verticalSpacing={6} horizontalSpacing="xs" aria-label="Recent runs">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Run</Table.Th>
                  <Table.Th>Status</Table.Th>
                  <Table.Th visibleFrom="xs">Trigger</Table.Th>
                  <Table.Th visibleFrom="xs">Duration</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {runs.map(
                  ({
                    id,
                    status,
                    trigger,
                    trial,
                    version,
                    created_at: at,
                    started_at: from,
                    finished_at: to,
                    open_interruptions: open,
                  }) => (
                    <Table.Tr key={id}>
                      <Table.Td>
                        <Anchor component={Link} to={`/runs/${id}`} size="sm">
                          <Time at={at} ago />
                        </Anchor>{" "}
                        <Text span size="xs" c="dimmed">
                          v{version}
                        </Text>
                      </Table.Td>
                      <Table.Td>
                        <RunStatus run={{ id, status, open_interruptions: open }} />
                      </Table.Td>
                      <Table.Td visibleFrom="xs">{triggerLabel({ trigger, trial })}</Table.Td>
                      <Table.Td visibleFrom="xs">
                        {from !== null && to !== null
                          ? formatDuration(Date.parse(to) - Date.parse(from))
                          : "–"}
                      </Table.Td>
                    </Table.Tr>
                  ),
                )}
              </Table.Tbody>
            </Table>
            <Group mt="xs">
              <Anchor component={Link} to={`/runs?${allRuns.toString()}`} size="sm">
                All runs
              </Anchor>
            </Group>
          </>
        )
      }
    </QueryContent>
  );
}

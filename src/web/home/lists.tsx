/** The four short lists of the home page. */
import { Anchor, Card, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "react-router";
import type { Approval } from "../../../schemas/approval.ts";
import type { RunSummary } from "../../../schemas/run.ts";
import type { ScheduleState } from "../../../schemas/schedule-state.ts";
import type { ApiResponse } from "../api/client.ts";
import { useHasScope, useSession } from "../app/session.tsx";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { RunName } from "../runs/run-name.tsx";
import { RunStatus } from "../runs/run-status.tsx";
import { QueryContent, LoadingSkeleton } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { WorkflowName } from "../workflows/names.tsx";
import { pendingApprovalsQuery, homeRunsQuery, upcomingSchedulesQuery } from "./queries.ts";

interface ShortListProps<T> {
  title: string;
  query: UseQueryResult<ApiResponse<T[]>>;
  /** Path of the full list. */
  to: string;
  /** Shown when the list is empty. */
  emptyText: string;
  children: (item: T) => ReactNode;
  keyOf: (item: T) => string;
}

function ShortList<T>({ title, query, to, emptyText, children, keyOf }: ShortListProps<T>) {
  return (
    <Card withBorder padding="lg">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            {title}
          </Title>
          <Anchor component={Link} to={to} size="sm" aria-label={`${title}: all`}>
            All
          </Anchor>
        </Group>
        <QueryContent query={query} skeleton={<LoadingSkeleton rows={3} />}>
          {({ data }) =>
            data.length === 0 ? (
              <Text size="sm" c="dimmed">
                {emptyText}
              </Text>
            ) : (
              <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: "none" }}>
                {data.map((item) => (
                  <li key={keyOf(item)}>{children(item)}</li>
                ))}
              </Stack>
            )
          }
        </QueryContent>
      </Stack>
    </Card>
  );
}

const idOf = ({ id }: { id: string }): string => id;

export function PendingApprovals() {
  const { user } = useSession();
  const hasScope = useHasScope();
  return (
    <ShortList<Approval>
      title={hasScope("approve") ? "Needs your approval" : "Pending approvals"}
      query={useQuery(pendingApprovalsQuery(useProjectFilter()))}
      to="/approvals"
      emptyText="No approvals are pending."
      keyOf={idOf}
    >
      {(approval) => (
        <ListEntry
          to={`/approvals/${approval.id}`}
          label={approval.message}
          details={
            <>
              {approval.workflow_id === null ? "single step" : <WorkflowName id={approval.workflow_id} />} ·{" "}
              <Time at={approval.created_at} ago />
              {approval.assignees.includes(user.email) && " · assigned to you"}
            </>
          }
        />
      )}
    </ShortList>
  );
}

export function RecentFailures({ since }: { since: string }) {
  return (
    <ShortList<RunSummary>
      title="Recent failures"
      query={useQuery(homeRunsQuery(useProjectFilter(), ["failed"], since))}
      to="/runs?status=failed"
      emptyText="No failures in the last 24 hours."
      keyOf={idOf}
    >
      {(run) => (
        <ListEntry
          to={`/runs/${run.id}`}
          label={<RunName run={run} />}
          details={
            <>
              <Time at={run.created_at} ago /> · {run.error?.message ?? "no error message"}
            </>
          }
        />
      )}
    </ShortList>
  );
}

export function RecentRuns() {
  return (
    <ShortList<RunSummary>
      title="Recent runs"
      query={useQuery(homeRunsQuery(useProjectFilter(), []))}
      to="/runs"
      emptyText="No runs yet."
      keyOf={idOf}
    >
      {(run) => (
        <Group justify="space-between" wrap="nowrap" gap="sm">
          <ListEntry
            to={`/runs/${run.id}`}
            label={<RunName run={run} />}
            details={<Time at={run.created_at} ago />}
          />
          <RunStatus run={run} />
        </Group>
      )}
    </ShortList>
  );
}

export function UpcomingRuns() {
  return (
    <ShortList<ScheduleState>
      title="Upcoming"
      query={useQuery(upcomingSchedulesQuery(useProjectFilter()))}
      to="/workflows?status=published"
      emptyText="No published workflow has a schedule."
      keyOf={({ workflow_id }) => workflow_id}
    >
      {({ workflow_id, next_runs: next, paused, cron, timezone }) => (
        <ListEntry
          to={`/workflows/${workflow_id}`}
          label={<WorkflowName id={workflow_id} />}
          details={
            paused || next[0] === undefined ? `paused (${cron}, ${timezone})` : <Time at={next[0]} ago />
          }
        />
      )}
    </ShortList>
  );
}

function ListEntry({ to, label, details }: { to: string; label: ReactNode; details: ReactNode }) {
  return (
    <Stack gap={0} style={{ minWidth: 0 }}>
      <Anchor component={Link} to={to} size="sm" lineClamp={2} style={{ overflowWrap: "anywhere" }}>
        {label}
      </Anchor>
      <Text size="xs" c="dimmed" component="div" lineClamp={2} style={{ overflowWrap: "anywhere" }}>
        {details}
      </Text>
    </Stack>
  );
}

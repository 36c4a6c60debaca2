/** The short lists of the home page. */
import { Anchor, Group, Stack, Text } from "@mantine/core";
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "react-router";
import * as texts from "#texts/home";
import type { RunSummary } from "../../../schemas/run.ts";
import type { ScheduleState } from "../../../schemas/schedule-state.ts";
import type { ApiResponse } from "../api/client.ts";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { runName } from "../runs/run-name.ts";
import { QueryContent, LoadingSkeleton } from "../ui/page.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { Time } from "../ui/time.tsx";
import { WorkflowName } from "../workflows/workflow-name.tsx";
import { HomeCard } from "./home-card.tsx";
import { homeRunsQuery, upcomingSchedulesQuery } from "./queries.ts";

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
    <HomeCard title={title} to={to}>
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
    </HomeCard>
  );
}

const idOf = ({ id }: { id: string }): string => id;

export function RecentFailures({ since }: { since: string }) {
  return (
    <ShortList<RunSummary>
      title={texts.recentFailures}
      query={useQuery(homeRunsQuery(useProjectFilter(), ["failed"], since))}
      to="/runs?status=failed"
      emptyText={texts.noFailures}
      keyOf={idOf}
    >
      {(run) => (
        <ListEntry
          to={`/runs/${run.id}`}
          label={<RunName run={run} />}
          details={
            <>
              <Time at={run.created_at} ago /> · {run.error?.message ?? texts.noErrorMessage}
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
      title={texts.recentRuns}
      query={useQuery(homeRunsQuery(useProjectFilter(), []))}
      to="/runs"
      emptyText={texts.noRuns}
      keyOf={idOf}
    >
      {(run) => (
        <Group justify="space-between" wrap="nowrap" gap="sm">
          <ListEntry
            to={`/runs/${run.id}`}
            label={<RunName run={run} />}
            details={<Time at={run.created_at} ago />}
          />
          <StatusBadge status={run.status} />
        </Group>
      )}
    </ShortList>
  );
}

export function UpcomingRuns() {
  return (
    <ShortList<ScheduleState>
      title={texts.upcoming}
      query={useQuery(upcomingSchedulesQuery(useProjectFilter()))}
      to="/workflows?status=published"
      emptyText={texts.noSchedules}
      keyOf={({ workflow_id }) => workflow_id}
    >
      {({ workflow_id, next, paused, cron, timezone }) => (
        <ListEntry
          to={`/workflows/${workflow_id}`}
          label={<WorkflowName id={workflow_id} />}
          details={
            paused || next[0] === undefined ? texts.paused({ cron, timezone }) : <Time at={next[0]} ago />
          }
        />
      )}
    </ShortList>
  );
}

/** The name of the workflow of a run, or its single step. */
const RunName = ({ run }: { run: RunSummary }) =>
  run.workflow_id === null ? <>{runName(run)}</> : <WorkflowName id={run.workflow_id} />;

export function ListEntry({ to, label, details }: { to: string; label: ReactNode; details: ReactNode }) {
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

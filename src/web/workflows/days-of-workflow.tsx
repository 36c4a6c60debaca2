/** The runs of a workflow in the last 14 days, in one line. Nothing is shown where there are none. */
import { Anchor, Group, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { useConnection } from "../api/connection.ts";
import { BARS_HEIGHT, DayBars } from "../runs/day-bars.tsx";
import { daysOfWorkflowQuery, durationOfWorkflowQuery } from "../runs/group-queries.ts";
import { pluralize } from "../runs/labels.ts";
import { countDays, describeDays, lastDays, SHOWN_DAYS, successRate, sumDays } from "../runs/last-days.ts";
import { writeState } from "../runs/statistics-state.ts";
import { formatDuration } from "../ui/duration.ts";
import { useNow } from "../ui/now.ts";

interface DaysOfWorkflowProps {
  workflow: { id: string; name: string };
  /** The project to which the statistics are filtered; left out while all projects are shown. */
  project?: string | undefined;
}

export function DaysOfWorkflow({ workflow: { id, name }, project }: DaysOfWorkflowProps) {
  const days = lastDays(useNow());
  const { isReachable } = useConnection();
  const byDay = useQuery(daysOfWorkflowQuery(id, days));
  const all = useQuery(durationOfWorkflowQuery(id, days));
  if (byDay.isPending && isReachable) return <Skeleton height={BARS_HEIGHT} maw={520} />;
  if (byDay.data === undefined || byDay.data.runs === 0) return null;
  const counts = countDays(days.days, byDay.data.groups);
  const sum = sumDays(counts);
  const rate = successRate(sum);
  const median = all.data?.groups[0]?.duration_ms?.median;
  const statistics = writeState({
    filters: { workflow: id, status: [], since: days.days[0]! },
    groupBy: ["day"],
  });
  if (project !== undefined) statistics.set("project", project);
  return (
    <Group gap="md" component="section" aria-label="Last 14 days">
      <DayBars counts={counts} label={describeDays(name, counts)} />
      <Text size="sm">
        <Anchor component={Link} to={`/runs/statistics?${statistics.toString()}`} inherit underline="always">
          {pluralize(sum.runs, "run")} in {SHOWN_DAYS} days
        </Anchor>
        {rate !== undefined && (
          <>
            ,{" "}
            <Text span inherit {...(sum.failed > 0 && { c: "var(--mantine-color-error)" })}>
              {rate} succeeded
            </Text>
          </>
        )}
        {median !== undefined && ` · median ${formatDuration(median)}`}
        {!byDay.data.complete && ` · of the newest ${byDay.data.read.toLocaleString()} runs`}
      </Text>
    </Group>
  );
}

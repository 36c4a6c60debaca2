/** The runs of the last 14 days by workflow, those with failures first. Nothing is shown where nothing has run. */
import { Anchor, Card, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import type { RunGroup } from "../../../schemas/run-groups.ts";
import { useConnection } from "../api/connection.ts";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { BARS_HEIGHT, barsWidth, DayBars, DayBarsLegend } from "../runs/day-bars.tsx";
import { writeFilters } from "../runs/filters.ts";
import { workflowDaysQuery, workflowGroupsQuery } from "../runs/group-queries.ts";
import { pluralize } from "../runs/labels.ts";
import { countDays, describeDays, lastDays, SHOWN_DAYS } from "../runs/last-days.ts";
import { statisticsPath } from "../runs/statistics-state.ts";
import { useNow } from "../ui/now.ts";
import { LoadingSkeleton, QueryContent } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { useWorkflowText, WorkflowLink } from "../workflows/names.tsx";
import classes from "./days-by-workflow.module.css";
import { firstWorkflowsQuery } from "./queries.ts";
import { oldestRun, rankWorkflows, workflowOf } from "./rank-workflows.ts";

/** Maximum number of workflows. */
const MAX_ROWS = 8;
/** Number of rows of the skeleton until the number of workflows is known. */
const SKELETON_ROWS = 3;

export function DaysByWorkflow() {
  const days = lastDays(useNow());
  const project = useProjectFilter();
  const byWorkflow = useQuery(workflowGroupsQuery(days, project));
  const rows = rankWorkflows(byWorkflow.data?.groups ?? []).slice(0, MAX_ROWS);
  const byDay = useQuery({
    ...workflowDaysQuery(days, project, rows.map(workflowOf)),
    enabled: rows.length > 0,
  });
  if (byWorkflow.data !== undefined && rows.length === 0) return null;
  return (
    <Card withBorder padding="lg" component="section" aria-label="Last 14 days">
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" gap="xs" wrap="nowrap">
          <Group gap="md" style={{ rowGap: 4 }}>
            <Title order={2} size="h4">
              Last {SHOWN_DAYS} days
            </Title>
            <DayBarsLegend />
          </Group>
          <Anchor
            component={Link}
            to={statisticsPath({ groupBy: ["workflow_id"], filters: { status: [], since: days.days[0]! } })}
            size="sm"
            aria-label="Last 14 days: all"
          >
            All
          </Anchor>
        </Group>
        <QueryContent query={byWorkflow} skeleton={<RowSkeletons />}>
          {({ groups, read, complete }) => (
            <>
              <ul className={classes["rows"]}>
                {rows.map((group) => (
                  <WorkflowRow
                    key={workflowOf(group)}
                    group={group}
                    days={days.days}
                    byDay={byDay.data?.groups}
                    isLoading={byDay.isPending}
                  />
                ))}
              </ul>
              {!complete && (
                <Text size="xs" c="dimmed">
                  Counts the newest {read.toLocaleString()} runs, since <Time at={oldestRun(groups)} />.
                </Text>
              )}
            </>
          )}
        </QueryContent>
      </Stack>
    </Card>
  );
}

interface WorkflowRowProps {
  group: RunGroup;
  days: readonly string[];
  /** The groups of all workflows by day; undefined until they are loaded, and if that failed. */
  byDay: readonly RunGroup[] | undefined;
  isLoading: boolean;
}

function WorkflowRow({ group, days, byDay, isLoading }: WorkflowRowProps) {
  const id = workflowOf(group);
  const text = useWorkflowText(id);
  const name = id === null ? "Single steps" : text;
  const counts =
    byDay &&
    countDays(
      days,
      byDay.filter((part) => workflowOf(part) === id),
    );
  const failed = group.statuses.failed ?? 0;
  return (
    <li className={classes["row"]}>
      <Text size="sm" component="div" className={classes["name"]}>
        {id === null ? name : <WorkflowLink id={id} />}
      </Text>
      {counts === undefined ? (
        <BarsPlace isLoading={isLoading} />
      ) : (
        <DayBars counts={counts} label={describeDays(name, counts)} />
      )}
      <Text size="sm" className={classes["number"]}>
        {pluralize(group.runs, "run")}
      </Text>
      <Text size="sm" className={classes["number"]}>
        {failed > 0 && <FailedRuns count={failed} workflow={id} name={name} since={days[0]!} />}
      </Text>
    </li>
  );
}

interface FailedRunsProps {
  count: number;
  /** Null for single steps, which no filter of the list of runs finds. */
  workflow: string | null;
  name: string;
  since: string;
}

function FailedRuns({ count, workflow, name, since }: FailedRunsProps) {
  const text = `${count.toLocaleString()} failed`;
  if (workflow === null)
    return (
      <Text span inherit c="var(--mantine-color-error)">
        {text}
      </Text>
    );
  return (
    <Anchor
      component={Link}
      to={`/runs?${writeFilters({ workflow, status: ["failed"], since }).toString()}`}
      inherit
      c="var(--mantine-color-error)"
      aria-label={`${text}: ${name}`}
    >
      {text}
    </Anchor>
  );
}

/** Where the bars will be, so that nothing moves when they come. */
function BarsPlace({ isLoading }: { isLoading: boolean }) {
  const { isReachable } = useConnection();
  const size = { height: BARS_HEIGHT, width: barsWidth(SHOWN_DAYS) };
  return isLoading && isReachable ? <Skeleton {...size} /> : <div style={size} />;
}

/** A row for each workflow, if their number is known: most of them run within 14 days. */
function RowSkeletons() {
  const workflows = useQuery(firstWorkflowsQuery(useProjectFilter()));
  const { isReachable } = useConnection();
  if (!isReachable) return <LoadingSkeleton />;
  const rows = Math.max(1, Math.min(MAX_ROWS, workflows.data?.total ?? SKELETON_ROWS));
  return (
    <div className={classes["rows"]} role="status" aria-busy="true" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} className={classes["skeleton"]} />
      ))}
    </div>
  );
}

/** Groups of runs as a chart and a table, with their download. */
import { Anchor, Box, Group, Select, Stack, Text } from "@mantine/core";
import { lazy, type ReactNode, Suspense, useMemo } from "react";
import { Link } from "react-router";
import type { RunStatus, RunTrigger } from "../../../schemas/run.ts";
import type { RunGroup, RunGroups } from "../../../schemas/run-groups.ts";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { LoadingSkeleton } from "../ui/page.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { Time } from "../ui/time.tsx";
import { ExportMenu } from "../values/export-menu.tsx";
import { type Row } from "../values/rows.ts";
import { RowsTable } from "../values/rows-table.tsx";
import { WorkflowLink } from "../workflows/names.tsx";
import { useWorkflowNames } from "../workflows/use-workflow-names.ts";
import { chartChoices, groupChart, MAX_BARS } from "./group-chart.ts";
import { groupRows, withoutIds } from "./group-rows.ts";
import { pluralize, TRIGGER_LABELS } from "./labels.ts";

const RowsChart = lazy(() => import("../values/rows-chart.tsx"));

interface StatisticsResultProps {
  result: RunGroups;
  groupBy: readonly string[];
  measures: readonly string[];
  /** The days that are counted, where they are known. */
  from: string | undefined;
  to: string | undefined;
  /** What the chart shows. */
  choice: string;
  onChoose: (choice: string) => void;
}

export function StatisticsResult(props: StatisticsResultProps) {
  const { result, groupBy, measures } = props;
  const rows = useMemo(() => groupRows(result.groups, groupBy, measures), [result, groupBy, measures]);
  return (
    <Stack gap="md">
      {groupBy.length > 0 && <ChartOfGroups {...props} />}
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed" role="status">
          {pluralize(result.runs, "run")} in {pluralize(result.groups.length, "group")}
        </Text>
        <ExportMenu value={result.groups} label="Run statistics" rows={rows} />
      </Group>
      <RowsTable rows={withoutIds(rows)} label="the statistics" renderCell={renderCell} />
    </Stack>
  );
}

function ChartOfGroups({ result, groupBy, measures, from, to, choice, onChoose }: StatisticsResultProps) {
  const { groups } = result;
  const names = useWorkflowNames(groupBy.includes("workflow_id") ? workflowsIn(groups) : []);
  const choices = chartChoices(measures);
  const chart = groupChart({ groups, groupBy, measures, choice, names, days: { from, to } });
  if (chart === undefined)
    return (
      <Text size="sm" c="dimmed">
        No chart: more than {MAX_BARS} bars.
      </Text>
    );
  return (
    <Stack gap="sm">
      <Select
        label="Chart"
        data={choices}
        value={choices.some(({ value }) => value === choice) ? choice : ""}
        onChange={(chosen) => onChoose(chosen ?? "")}
        allowDeselect={false}
        maw={360}
      />
      <ErrorBoundary
        message="The chart could not be drawn. The table has all of its numbers."
        resetKey={result}
      >
        <Suspense fallback={<LoadingSkeleton rows={7} />}>
          <Box mih={320}>
            <RowsChart chart={chart.chart} rows={chart.rows} />
          </Box>
        </Suspense>
      </ErrorBoundary>
    </Stack>
  );
}

const workflowsIn = (groups: readonly RunGroup[]): string[] => [
  ...new Set(groups.flatMap(({ by: { workflow_id: id } }) => (typeof id === "string" ? [id] : []))),
];

/** Links to runs and workflows, and words for statuses and triggers. */
function renderCell(row: Row, column: string): ReactNode {
  if (column === "first" || column === "last")
    return (
      <Text span display="block" size="sm">
        <Anchor component={Link} to={`/runs/${String(row[`${column}_run`])}`} inherit>
          <Time at={String(row[column])} />
        </Anchor>
      </Text>
    );
  if (!Object.hasOwn(row, column))
    return (
      <Text span display="block" size="sm" c="dimmed" fs="italic">
        none
      </Text>
    );
  const value = row[column];
  if (typeof value !== "string") return undefined;
  switch (column) {
    case "workflow_id":
      return (
        <Text span display="block" size="sm" w="max-content" maw="min(420px, 60vw)">
          <WorkflowLink id={value} />
        </Text>
      );
    case "status":
      return <StatusBadge status={value as RunStatus} />;
    case "trigger":
      return TRIGGER_LABELS[value as RunTrigger];
    default:
      return undefined;
  }
}

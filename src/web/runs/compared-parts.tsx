/** The tables of a comparison of two runs. */
import { Anchor, Badge, Group, ScrollArea, Stack, Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import type {
  ComparedStep,
  ComparedValue,
  RunComparison,
  StepOfRun,
} from "../../../schemas/run-comparison.ts";
import { StatusBadge } from "../ui/status-badge.tsx";
import { formatDuration } from "../ui/duration.ts";
import { Time } from "../ui/time.tsx";
import { WorkflowLink } from "../workflows/names.tsx";
import { describeSide } from "./comparison.ts";
import { RunLink } from "./facts.tsx";
import { pluralize, triggerLabel } from "./labels.ts";

type ComparedRun = RunComparison["before"];

/** Breaks long words, so that a table is as wide as its page. */
const BREAKING = { overflowWrap: "anywhere" } as const;

/** A table with a column for each run. */
function SideTable({ label, first, children }: { label: string; first: string; children: ReactNode }) {
  return (
    <ScrollArea type="auto" viewportProps={{ tabIndex: 0, role: "region", "aria-label": `${label} of both` }}>
      <Table
        layout="fixed"
        verticalSpacing="xs"
        aria-label={label}
        style={BREAKING}
        styles={{ td: { verticalAlign: "top" } }}
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{first}</Table.Th>
            <Table.Th>Before</Table.Th>
            <Table.Th>After</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </ScrollArea>
  );
}

export function ComparedRuns({ before, after }: Record<"before" | "after", ComparedRun>) {
  const rows: [string, (run: ComparedRun) => ReactNode][] = [
    ["Run", (run) => <RunLink id={run.id} />],
    ["Workflow", workflowOf],
    ["Status", (run) => <StatusBadge status={run.status} />],
    ["Started by", triggerLabel],
    ["Created", (run) => <Time at={run.created_at} ago />],
    ["Duration", (run) => (run.duration_ms === null ? "–" : formatDuration(run.duration_ms))],
  ];
  return (
    <SideTable label="Runs" first="Run">
      {rows.map(([name, show]) => (
        <Table.Tr key={name}>
          <Table.Td c="dimmed">{name}</Table.Td>
          <Table.Td>{show(before)}</Table.Td>
          <Table.Td>{show(after)}</Table.Td>
        </Table.Tr>
      ))}
    </SideTable>
  );
}

const workflowOf = ({ workflow_id: id, version }: ComparedRun): ReactNode =>
  id === null ? (
    "None: a single step"
  ) : (
    <>
      <WorkflowLink id={id} />, version {version}
    </>
  );

export function ComparedSteps({ comparison: { steps, before, after } }: { comparison: RunComparison }) {
  return (
    <SideTable label="Steps" first="Step">
      {steps.map((step) => (
        <Table.Tr key={step.id}>
          <Table.Td>
            <Stack gap={4} align="flex-start">
              <Text size="sm" fw={600}>
                {step.id}
              </Text>
              <Group gap={6}>
                <Text size="xs" c="dimmed">
                  {step.type}
                </Text>
                {!step.same && (
                  <Badge variant="default" size="sm" tt="none" miw="max-content">
                    differs
                  </Badge>
                )}
              </Group>
            </Stack>
          </Table.Td>
          <Table.Td>
            <StepSide step={step} side={step.before} runId={before.id} />
          </Table.Td>
          <Table.Td>
            <StepSide step={step} side={step.after} runId={after.id} />
          </Table.Td>
        </Table.Tr>
      ))}
    </SideTable>
  );
}

interface StepSideProps {
  step: ComparedStep;
  side: StepOfRun | null;
  runId: string;
}

function StepSide({ step: { id }, side, runId }: StepSideProps) {
  if (side === null)
    return (
      <Text size="sm" c="dimmed">
        not in its definition
      </Text>
    );
  return (
    <Stack gap={4} align="flex-start">
      <Anchor
        component={Link}
        to={`/runs/${runId}?step=${encodeURIComponent(id)}`}
        aria-label={`${id} ${side.status} in ${runId}`}
      >
        <StatusBadge status={side.status} />
      </Anchor>
      <Text size="xs" c="dimmed">
        {detailsOf(side).join(" · ")}
      </Text>
    </Stack>
  );
}

function detailsOf({
  status,
  attempts,
  duration_ms: ms,
  items,
  given,
  reused_from: reused,
}: StepOfRun): string[] {
  return [
    ...(ms === null || status === "skipped" ? [] : [formatDuration(ms)]),
    ...(items === undefined
      ? []
      : [
          `${items.done} of ${pluralize(items.total, items.max === undefined ? "item" : "iteration")}`,
          ...(items.failed > 0 ? [`${items.failed} failed`] : []),
        ]),
    ...(attempts > 1 ? [`attempt ${attempts}`] : []),
    ...(given === true ? ["given"] : []),
    ...(reused === undefined ? [] : [reused === "cache" ? "cached" : `reused from ${reused}`]),
  ];
}

interface ValueDifferencesProps {
  label: string;
  /** The heading of the first column, where the section has several tables. */
  caption?: string;
  value: ComparedValue;
}

export function ValueDifferences({ label, caption = "Field", value }: ValueDifferencesProps) {
  const { differences, left_out: left } = value;
  return (
    <Stack gap="xs">
      {differences.length > 0 && (
        <SideTable label={label} first={caption}>
          {differences.map((difference) => (
            <Table.Tr key={difference.path}>
              <Table.Td>
                <Text size="sm" ff="monospace">
                  {difference.path === "" ? "as a whole" : difference.path}
                </Text>
              </Table.Td>
              {(["before", "after"] as const).map((side) => (
                <Table.Td key={side}>
                  <Text size="sm" ff="monospace" {...(side in difference ? {} : { c: "dimmed" })}>
                    {describeSide(difference, side)}
                  </Text>
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </SideTable>
      )}
      {left !== undefined && (
        <Text size="sm" c="dimmed">
          {left}
        </Text>
      )}
    </Stack>
  );
}

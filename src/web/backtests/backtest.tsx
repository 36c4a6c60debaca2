/** The page of a backtest: what was tested, its figures, the effects, and its runs. */
import { Alert, Anchor, Card, Code, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import type { Backtest } from "../../../schemas/backtest.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { Fact, Facts } from "../runs/facts.tsx";
import { pluralize } from "../runs/labels.ts";
import { Section } from "../runs/section.tsx";
import { LoadingSkeleton, NotFound, Page, QueryContent } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { useWorkflowText, WorkflowLink, WorkflowName } from "../workflows/names.tsx";
import { CancelButton } from "./cancel-button.tsx";
import { Amounts, Effects } from "./effects.tsx";
import { allBacktestRunsQuery, backtestQuery, isRunning } from "./queries.ts";
import { BacktestBadge } from "./result-badge.tsx";
import { ResultChart } from "./result-chart.tsx";
import { ResultBar, ResultFigures } from "./result-counts.tsx";
import { describeReasons, describeSubject } from "./results.ts";
import { RunTable } from "./run-table.tsx";

export default function BacktestPage() {
  const { workflowId = "", backtestId = "" } = useParams();
  const query = useQuery(backtestQuery(workflowId, backtestId));
  const { data } = query;
  const may = useHasScopeIn(data ?? undefined);
  const name = useWorkflowText(workflowId);
  return (
    <Page
      title={`Backtest of ${name}`}
      heading={
        <>
          Backtest of <WorkflowName id={workflowId} />
        </>
      }
      about={
        <Group gap="xs">
          {data !== null && data !== undefined && <BacktestBadge status={data.status} />}
          <Code>{backtestId}</Code>
          <Anchor component={Link} to={`/workflows/${workflowId}`} size="sm">
            Back to the workflow
          </Anchor>
        </Group>
      }
      actions={
        data !== null &&
        data !== undefined &&
        isRunning(data) &&
        may("run") && <CancelButton backtest={data} />
      }
    >
      <QueryContent query={query}>
        {(backtest) =>
          backtest === null ? (
            <NotFound
              code="backtest_not_found"
              id={backtestId}
              back={{ to: `/workflows/${workflowId}`, label: "Back to the workflow" }}
            />
          ) : (
            <BacktestDetails key={backtest.id} backtest={backtest} />
          )
        }
      </QueryContent>
    </Page>
  );
}

function BacktestDetails({ backtest }: { backtest: Backtest }) {
  const { runs, effects } = backtest;
  return (
    <Stack gap="xl">
      <BacktestFacts backtest={backtest} />
      <Message backtest={backtest} />
      <Stack gap="sm" aria-live={isRunning(backtest) ? "polite" : "off"}>
        <ResultBar runs={runs} />
        <ResultFigures runs={runs} />
      </Stack>
      <Card withBorder p="md">
        <Section title="Results over time" order={2}>
          <OverTime backtest={backtest} />
        </Section>
      </Card>
      <Section title="Effects" order={2}>
        {effects === undefined ? (
          <Text size="sm" c="dimmed">
            {isRunning(backtest) ? "Counted once all runs are compared." : "Not counted: it did not finish."}
          </Text>
        ) : (
          <Effects effects={effects} />
        )}
        <Amounts backtest={backtest} />
      </Section>
      <Section title="Runs" order={2}>
        <Reasons reasons={backtest.reasons ?? {}} />
        <RunTable backtest={backtest} />
      </Section>
    </Stack>
  );
}

function Reasons({ reasons }: { reasons: NonNullable<Backtest["reasons"]> }) {
  const text = describeReasons(reasons);
  return text === undefined ? null : <Text size="sm">Not comparable: {text}.</Text>;
}

const READS = {
  recorded: "from the record",
  live: "live, where their input has changed",
} as const;

function BacktestFacts({ backtest }: { backtest: Backtest }) {
  const { workflow_id: id, version, source_workflow_id: source, reads, runs } = backtest;
  const { started_by: by, created_at: created, finished_at: finished, cancelled_by: cancelledBy } = backtest;
  return (
    <Facts>
      <Fact name="Tested">
        <Anchor
          component={Link}
          to={`/workflows/${id}/versions?from=${Math.max(1, version - 1)}&to=${version}`}
          inherit
        >
          {describeSubject(backtest)}
        </Anchor>
      </Fact>
      <Fact name="With">
        {pluralize(runs.total, "run")}
        {source !== undefined && (
          <>
            {" of "}
            <WorkflowLink id={source} />
          </>
        )}
      </Fact>
      <Fact name="Reads">{READS[reads]}</Fact>
      <Fact name="Started by">{by}</Fact>
      <Fact name="Started">
        <Time at={created} />
      </Fact>
      {finished !== null && (
        <Fact name="Ended">
          <Time at={finished} />
          {cancelledBy !== null && `, cancelled by ${cancelledBy}`}
        </Fact>
      )}
    </Facts>
  );
}

/** Why it starts nothing at the moment, or why it failed. */
function Message({ backtest: { status, message } }: { backtest: Backtest }) {
  if (message === null) return null;
  return (
    <Alert
      color={status === "failed" ? "red" : "yellow"}
      title={status === "failed" ? "The backtest failed" : "It starts no run at the moment"}
      role="note"
    >
      <Text size="sm">{message}</Text>
    </Alert>
  );
}

function OverTime({ backtest }: { backtest: Backtest }) {
  const query = useQuery(allBacktestRunsQuery(backtest));
  return (
    <QueryContent query={query} skeleton={<LoadingSkeleton rows={1} />}>
      {(runs) => <ResultChart runs={runs} />}
    </QueryContent>
  );
}

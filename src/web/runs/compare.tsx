/** Compares a run with the last one of its workflow that succeeded before it, or with the one of the address. */
import { Button, Group, SimpleGrid, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams, useSearchParams } from "react-router";
import * as texts from "#texts/runs";
import type { Run, RunStep } from "../../../schemas/run.ts";
import { send } from "../api/client.ts";
import { linkTo } from "../ui/message-tags.tsx";
import { EmptyState, Page, QueryContent } from "../ui/page.tsx";
import { useNow } from "../ui/now.ts";
import { StatusBadge } from "../ui/status-badge.tsx";
import { Time } from "../ui/time.tsx";
import { formatElapsed } from "./elapsed.ts";
import { Fact, Facts, linkToRun, RunLink } from "./facts.tsx";
import { describeFailure } from "./failure.ts";
import { runInputsQuery } from "./queries.ts";
import { runName } from "./run-name.ts";
import { Section } from "./section.tsx";
import { ValueDiff, StepOutputDiff } from "./value-diff.tsx";

export default function CompareRuns() {
  const { runId = "" } = useParams();
  const [params] = useSearchParams();
  const other = params.get("with");
  const query = useQuery({
    queryKey: ["runs", runId, "compare", other],
    queryFn: ({ signal }) => loadPair(runId, other, signal),
  });
  const run = query.data?.run;
  return (
    <Page
      title={run === undefined ? texts.compareRuns : texts.compareRunOf({ name: runName(run) })}
      about={texts.besideGood({ run: linkToRun(runId) })}
    >
      <QueryContent query={query}>
        {({ run: current, good }) =>
          good === undefined ? (
            <EmptyState
              title={texts.noGoodRun}
              action={
                <Button component={Link} to={`/runs/${runId}`} variant="default">
                  {texts.backToRun}
                </Button>
              }
            >
              {texts.noGoodRunHelp}
            </EmptyState>
          ) : (
            <Comparison run={current} good={good} />
          )
        }
      </QueryContent>
    </Page>
  );
}

const loadRun = async (id: string, signal: AbortSignal): Promise<Run> =>
  (await send("get", "/runs/{run_id}", { path: { run_id: id }, query: { detail: "steps" }, signal })).data;

async function loadPair(
  id: string,
  other: string | null,
  signal: AbortSignal,
): Promise<{ run: Run; good: Run | undefined }> {
  const run = await loadRun(id, signal);
  if (other !== null) return { run, good: await loadRun(other, signal) };
  if (run.workflow_id === null) return { run, good: undefined };
  const { data: newest } = await send("get", "/runs", {
    query: {
      workflow_id: run.workflow_id,
      status: ["succeeded"],
      trial: false,
      until: run.created_at,
      limit: 1,
    },
    signal,
  });
  return { run, good: newest[0] === undefined ? undefined : await loadRun(newest[0].id, signal) };
}

function Comparison({ run, good }: { run: Run; good: Run }) {
  return (
    <Stack gap="lg">
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Summary title={texts.lastGoodRun} run={good} />
        <Summary title={texts.thisRun} run={run} />
      </SimpleGrid>
      {good.version !== run.version && (
        <Text size="sm">
          {texts.workflowChanged({
            before: good.version ?? "",
            after: run.version ?? "",
            link: linkTo(`/workflows/${run.workflow_id}/versions`, { inherit: true }),
          })}
        </Text>
      )}
      <Section title={texts.inputs} order={2}>
        <Inputs run={run} good={good} />
      </Section>
      <Section title={texts.steps} order={2}>
        <Steps run={run} good={good} />
      </Section>
    </Stack>
  );
}

function Summary({ title, run }: { title: string; run: Run }) {
  const failure = describeFailure(run);
  const now = useNow();
  return (
    <Section title={title} order={2}>
      <Group gap="xs">
        <StatusBadge status={run.status} />
        <RunLink id={run.id} />
      </Group>
      <Facts>
        <Fact name={texts.created}>
          <Time at={run.created_at} />
        </Fact>
        <Fact name={texts.version}>
          {run.patched === true ? texts.versionModified({ version: run.version ?? "" }) : run.version}
        </Fact>
        {run.started_at !== null && (
          <Fact name={texts.duration}>{formatElapsed(run.started_at, run.finished_at, now)}</Fact>
        )}
      </Facts>
      {failure !== undefined && (
        <Text size="sm" c="red" style={{ overflowWrap: "anywhere" }}>
          {failure.summary}
        </Text>
      )}
    </Section>
  );
}

function Inputs({ run, good }: { run: Run; good: Run }) {
  const [before, after] = [useQuery(runInputsQuery(good.id)), useQuery(runInputsQuery(run.id))];
  return (
    <QueryContent query={before}>
      {(old) => (
        <QueryContent query={after}>
          {(current) => <ValueDiff before={old} after={current} label={texts.inputDifferences} />}
        </QueryContent>
      )}
    </QueryContent>
  );
}

interface StepPair {
  id: string;
  before: RunStep | undefined;
  after: RunStep | undefined;
}

function Steps({ run, good }: { run: Run; good: Run }) {
  const [shown, setShown] = useState<string>();
  const pairs = pairSteps(good.steps ?? [], run.steps ?? []);
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table aria-label={texts.stepsOfBoth} verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.step}</Table.Th>
            <Table.Th>{texts.lastGoodRun}</Table.Th>
            <Table.Th>{texts.thisRun}</Table.Th>
            <Table.Th>{texts.output}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {pairs.map((pair) => (
            <StepRows
              key={pair.id}
              pair={pair}
              runIds={[good.id, run.id]}
              isShown={shown === pair.id}
              onToggle={() => setShown(shown === pair.id ? undefined : pair.id)}
            />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** The steps of both runs, those of this run first in its order. */
function pairSteps(before: readonly RunStep[], after: readonly RunStep[]): StepPair[] {
  const old = new Map(before.map((step) => [step.id, step]));
  const current = new Map(after.map((step) => [step.id, step]));
  return [...new Set([...current.keys(), ...old.keys()])].map((id) => ({
    id,
    before: old.get(id),
    after: current.get(id),
  }));
}

interface StepRowsProps {
  pair: StepPair;
  /** The last good run, and this run. */
  runIds: readonly [string, string];
  isShown: boolean;
  onToggle: () => void;
}

function StepRows({ pair: { id, before, after }, runIds, isShown, onToggle }: StepRowsProps) {
  const both = before?.status === "succeeded" && after?.status === "succeeded";
  return (
    <>
      <Table.Tr>
        <Table.Td style={{ overflowWrap: "anywhere" }}>{id}</Table.Td>
        <Table.Td>
          <StepState step={before} />
        </Table.Td>
        <Table.Td>
          <StepState step={after} />
        </Table.Td>
        <Table.Td>
          {both && (
            <Button
              size="compact-xs"
              variant="default"
              onClick={onToggle}
              aria-expanded={isShown}
              aria-label={isShown ? texts.hideOutputs({ step: id }) : texts.compareOutputs({ step: id })}
            >
              {isShown ? texts.hide : texts.compare}
            </Button>
          )}
        </Table.Td>
      </Table.Tr>
      {isShown && (
        <Table.Tr>
          <Table.Td colSpan={4}>
            <StepOutputDiff stepId={id} runIds={runIds} />
          </Table.Td>
        </Table.Tr>
      )}
    </>
  );
}

function StepState({ step }: { step: RunStep | undefined }) {
  const now = useNow();
  if (step === undefined)
    return (
      <Text size="sm" c="dimmed">
        {texts.noSuchStep}
      </Text>
    );
  const { status, started_at: from, finished_at: to } = step;
  return (
    <Group gap="xs" wrap="nowrap">
      <StatusBadge status={status} />
      {from !== null && (
        <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
          {formatElapsed(from, to, now)}
        </Text>
      )}
    </Group>
  );
}

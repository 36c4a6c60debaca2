/** The runs of a backtest with their results: a table, and cards in a narrow window. */
import { Anchor, Box, Card, Code, Group, Stack, Table, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import type { Backtest, BacktestResult, BacktestRun } from "../../../schemas/backtest.ts";
import { FilterButtons } from "../ui/filter-buttons.tsx";
import { EmptyState } from "../ui/page.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { Time } from "../ui/time.tsx";
import { useFilters } from "../ui/use-filters.ts";
import { Differences } from "./differences.tsx";
import { backtestRunsQuery } from "./queries.ts";
import { ResultBadge } from "./result-badge.tsx";
import { describeStep, readResult, reasonLabel, RESULT_LABELS, RESULTS } from "./results.ts";

/** The filter is part of the URL, so that a reviewer can open the same table. */
export function RunTable({ backtest }: { backtest: Backtest }) {
  const [params, setFilter] = useFilters();
  const shown = readResult(params);
  const runs = useInfiniteQuery(backtestRunsQuery(backtest, shown));
  const filters = [
    { value: undefined, label: "all", count: backtest.runs.total },
    ...RESULTS.map(filterOf(backtest)),
  ];
  return (
    <Stack gap="sm">
      <FilterButtons
        options={filters}
        shown={shown}
        onChange={(result) => setFilter("result", result ?? "")}
      />
      <PagedList
        query={runs}
        empty={<EmptyState title="No such runs">No run of this backtest has this result.</EmptyState>}
      >
        {(items) => (
          <Box aria-busy={runs.isPlaceholderData} opacity={runs.isPlaceholderData ? 0.6 : 1}>
            <WideTable runs={items} />
            <Cards runs={items} />
          </Box>
        )}
      </PagedList>
    </Stack>
  );
}

const filterOf = (backtest: Backtest) => (result: BacktestResult) => ({
  value: result,
  label: RESULT_LABELS[result],
  count: backtest.runs[result],
});

interface RunsProps {
  runs: readonly BacktestRun[];
}

function WideTable({ runs }: RunsProps) {
  return (
    <Table aria-label="Runs" highlightOnHover verticalSpacing="xs" visibleFrom="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Run</Table.Th>
          <Table.Th>Result</Table.Th>
          <Table.Th>First difference</Table.Th>
          <Table.Th>Open</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {runs.map((run) => (
          <Table.Tr key={run.run_id} style={{ verticalAlign: "top" }}>
            <Table.Td>
              <RunName run={run} />
            </Table.Td>
            <Table.Td>
              <ResultBadge result={run.result} />
            </Table.Td>
            <Table.Td>
              <FirstDifference run={run} />
            </Table.Td>
            <Table.Td>
              <ReplayLinks run={run} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Cards({ runs }: RunsProps) {
  return (
    <Stack
      gap="sm"
      hiddenFrom="sm"
      component="ul"
      m={0}
      p={0}
      aria-label="Runs"
      style={{ listStyle: "none" }}
    >
      {runs.map((run) => (
        <Card key={run.run_id} withBorder component="li" p="sm">
          <Stack gap={6}>
            <Group justify="space-between" wrap="nowrap" align="flex-start">
              <RunName run={run} />
              <ResultBadge result={run.result} />
            </Group>
            <FirstDifference run={run} />
            <ReplayLinks run={run} />
          </Stack>
        </Card>
      ))}
    </Stack>
  );
}

function RunName({ run: { run_id: id, created_at: at, status } }: { run: BacktestRun }) {
  return (
    <Box miw={0} style={{ overflowWrap: "anywhere" }}>
      <Anchor component={Link} to={`/runs/${id}`} size="sm" fw={500}>
        {at === undefined ? id : <Time at={at} />}
      </Anchor>
      <Text size="xs" c="dimmed">
        {at !== undefined && `${id} · `}
        {status ?? "purged"}
      </Text>
    </Box>
  );
}

function FirstDifference({ run: { difference } }: { run: BacktestRun }) {
  if (difference === undefined) return null;
  const reason = reasonLabel(difference);
  const { message, item } = difference;
  // Most messages name the step themselves.
  const isNamed = item === undefined && message.includes(`"${difference.step}"`);
  const step = isNamed ? undefined : describeStep(difference);
  return (
    <Stack gap={2} miw={0}>
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {step !== undefined && (
          <>
            <Code>{step}</Code>{" "}
          </>
        )}
        {reason !== undefined && `${reason}: `}
        {message}
      </Text>
      <Differences differences={difference.differences} />
      {difference.fix !== undefined && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {difference.fix}
        </Text>
      )}
    </Stack>
  );
}

function ReplayLinks({ run: { run_id: id, replay, result } }: { run: BacktestRun }) {
  if (replay === null) return null;
  return (
    <Group gap="xs" wrap="nowrap">
      <Anchor component={Link} to={`/runs/${replay}`} size="sm">
        Replay<span className="visually-hidden"> of {id}</span>
      </Anchor>
      {result !== null && (
        <Anchor
          component={Link}
          to={`/runs/${replay}/compare?with=${id}`}
          size="sm"
          style={{ whiteSpace: "nowrap" }}
        >
          Side by side<span className="visually-hidden">: {id} and its replay</span>
        </Anchor>
      )}
    </Group>
  );
}

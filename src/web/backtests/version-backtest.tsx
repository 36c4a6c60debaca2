/** The newest backtest of a version, for people who are about to publish it. */
import { Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import type { Backtest } from "../../../schemas/backtest.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { pluralize } from "../runs/labels.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { backtestQuery, isRunning, versionBacktestQuery } from "./queries.ts";
import { ResultBar } from "./result-counts.tsx";
import { describeCounts } from "./results.ts";
import { useStartBacktest } from "./use-start-backtest.ts";

interface VersionBacktestProps {
  /** The workflow's id and project. */
  workflow: { id: string; project?: string | undefined };
  version: number;
  /** Whether the version is being published, which may run a backtest. */
  isPublishing?: boolean;
}

export function VersionBacktest({ workflow, version, isPublishing = false }: VersionBacktestProps) {
  const may = useHasScopeIn(workflow);
  const newest = useQuery(versionBacktestQuery(workflow.id, version, isPublishing));
  const start = useStartBacktest(workflow.id, () => undefined);
  // What the list answers may be older than the start.
  const backtest = newest.data ?? start.data ?? null;
  if (newest.data === undefined) return newest.isError ? <ErrorAlert error={newest.error} /> : null;
  return (
    <Stack gap="xs" component="section" aria-label="Backtest">
      {backtest === null ? (
        !isPublishing && <Text size="sm">No backtest of version {version} yet.</Text>
      ) : (
        <BacktestSummary backtest={backtest} />
      )}
      {start.isError && <ErrorAlert error={start.error} />}
      {may("run") && !isPublishing && (backtest === null || !isRunning(backtest)) && (
        <Group>
          <Button
            size="xs"
            variant="default"
            loading={start.isPending}
            onClick={() => start.mutate({ version })}
          >
            {backtest === null ? "Backtest with the last 100 runs" : "Backtest again"}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** A backtest in two lines, and why it waits or failed, with a link to its page. @param newTab opens it beside a form with unsaved changes */
function BacktestSummary({ backtest, newTab = false }: { backtest: Backtest; newTab?: boolean }) {
  const { id, workflow_id: workflow, runs, status, message, created_at: at } = backtest;
  return (
    <Stack gap={4} aria-live="polite">
      <Group gap="xs" justify="space-between">
        <Text size="sm">
          {isRunning(backtest) ? "Backtest running" : `Backtest ${status}`}, {pluralize(runs.total, "run")},{" "}
          <Time at={at} ago />
        </Text>
        <Anchor
          component={Link}
          to={`/workflows/${workflow}/backtests/${id}`}
          size="sm"
          {...(newTab && { target: "_blank" })}
        >
          Show the backtest{newTab && <span className="visually-hidden"> in a new tab</span>}
        </Anchor>
      </Group>
      <ResultBar runs={runs} size="sm" />
      <Text size="sm">{describeCounts(runs)}.</Text>
      {message !== null && (
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {message}
        </Text>
      )}
    </Stack>
  );
}

/** A backtest that was just started, which is loaded again while it runs. */
export function StartedBacktest({ started }: { started: Backtest }) {
  const { data } = useQuery({ ...backtestQuery(started.workflow_id, started.id), initialData: started });
  return data === null ? null : <BacktestSummary backtest={data} newTab />;
}

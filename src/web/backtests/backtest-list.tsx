/** The backtests of a workflow, newest first, and a button that starts one. */
import { Anchor, Box, Button, Group, Stack, Text } from "@mantine/core";
import { IconHistoryToggle } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { Link, useNavigate } from "react-router";
import type { Backtest } from "../../../schemas/backtest.ts";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { pluralize } from "../runs/labels.ts";
import { PagedList } from "../ui/paged-list.tsx";
import { Time } from "../ui/time.tsx";
import { backtestsQuery } from "./queries.ts";
import { BacktestBadge } from "./result-badge.tsx";
import { ResultBar } from "./result-counts.tsx";
import { describeCounts, describeSubject } from "./results.ts";

const BacktestDialog = lazy(async () => ({
  default: (await import("./backtest-dialog.tsx")).BacktestDialog,
}));

export function BacktestList({ workflow }: { workflow: WorkflowWithDefinition }) {
  const { id, status, definition } = workflow;
  const may = useHasScopeIn(workflow);
  const navigate = useNavigate();
  const query = useInfiniteQuery(backtestsQuery(id));
  const [isOpen, setOpen] = useState(false);
  return (
    <Stack gap="sm">
      {may("run") && status !== "archived" && definition !== null && (
        <Group>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconHistoryToggle size={14} aria-hidden />}
            onClick={() => setOpen(true)}
          >
            Backtest
          </Button>
        </Group>
      )}
      <PagedList
        query={query}
        empty={
          <Text size="sm" c="dimmed">
            No backtests yet. A backtest runs past runs again with another version, without effects, and shows
            what differs.
          </Text>
        }
      >
        {(items) => (
          <Stack component="ul" gap="sm" m={0} p={0} aria-label="Backtests" style={{ listStyle: "none" }}>
            {items.map((backtest) => (
              <BacktestRow key={backtest.id} backtest={backtest} />
            ))}
          </Stack>
        )}
      </PagedList>
      <Suspense>
        {isOpen && (
          <BacktestDialog
            workflow={workflow}
            onStarted={(started) => void navigate(`/workflows/${id}/backtests/${started.id}`)}
            onClose={() => setOpen(false)}
          />
        )}
      </Suspense>
    </Stack>
  );
}

function BacktestRow({ backtest }: { backtest: Backtest }) {
  const { id, workflow_id: workflow, status, runs, created_at: at, started_by: by } = backtest;
  return (
    <Box component="li">
      <Group gap="xs" justify="space-between" wrap="nowrap" align="flex-start">
        <Text size="sm">
          <Anchor component={Link} to={`/workflows/${workflow}/backtests/${id}`} size="sm" fw={500}>
            Backtest of {describeSubject(backtest)}
          </Anchor>
          , {pluralize(runs.total, "run")}
        </Text>
        <BacktestBadge status={status} />
      </Group>
      <Box my={4}>
        <ResultBar runs={runs} size="sm" />
      </Box>
      <Text size="sm" c="dimmed">
        {describeCounts(runs)} · <Time at={at} ago /> by {by}
      </Text>
    </Box>
  );
}

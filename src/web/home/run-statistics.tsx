/** Run statistics of the last 24 hours. Each number links to the list that it counts. */
import { Card, SimpleGrid, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import type { RunStatus } from "../../../schemas/run.ts";
import type { ApiResponse } from "../api/client.ts";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { useConnection } from "../api/connection.ts";
import { formatTotal } from "../ui/pagination.ts";
import { pendingApprovalsQuery, homeRunsQuery } from "./queries.ts";

export function RunStatistics({ since }: { since: string }) {
  const approvals = useQuery(pendingApprovalsQuery(useProjectFilter()));
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
      <RunCount label="failed in 24 hours" status={["failed"]} since={since} highlight />
      <Statistic
        label="approvals pending"
        list={approvals.data}
        unavailable={approvals.isError}
        to="/approvals"
      />
      <RunCount label="in progress" status={["queued", "running", "waiting"]} />
      <RunCount label="succeeded in 24 hours" status={["succeeded"]} since={since} />
    </SimpleGrid>
  );
}

function RunCount({
  label,
  status,
  since,
  highlight = false,
}: {
  label: string;
  status: RunStatus[];
  since?: string;
  highlight?: boolean;
}) {
  const runs = useQuery(homeRunsQuery(useProjectFilter(), status, since));
  const search = new URLSearchParams({
    status: status.join(","),
    ...(since !== undefined && { since: since.slice(0, 10) }),
  });
  return (
    <Statistic
      label={label}
      list={runs.data}
      unavailable={runs.isError}
      to={`/runs?${search.toString()}`}
      highlight={highlight}
    />
  );
}

interface StatisticProps {
  label: string;
  /** The list that it counts; undefined until it is loaded. */
  list: ApiResponse<unknown> | undefined;
  unavailable: boolean;
  to: string;
  highlight?: boolean;
}

function Statistic({ label, list, unavailable, to, highlight = false }: StatisticProps) {
  const { isReachable } = useConnection();
  const isRed = highlight && (list?.total ?? 0) > 0;
  return (
    <Card component={Link} to={to} withBorder padding="md" className="statistic">
      {list === undefined && !unavailable && isReachable ? (
        <Skeleton height={32} width={60} />
      ) : (
        <Text size="1.75rem" lh={1.15} fw={650} {...(isRed && { c: "var(--mantine-color-error)" })}>
          {formatTotal(list) ?? "–"}
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {label}
      </Text>
    </Card>
  );
}

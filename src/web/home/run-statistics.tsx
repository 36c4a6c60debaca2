/** Run statistics of the last 24 hours. Each number links to the list that it counts. */
import { Card, SimpleGrid, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import type { RunStatus } from "../../../schemas/run.ts";
import { pendingApprovalsQuery, homeRunsQuery } from "./queries.ts";

const numberFormat = new Intl.NumberFormat();

export function RunStatistics({ since }: { since: string }) {
  const approvals = useQuery(pendingApprovalsQuery);
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
      <RunCount label="failed in 24 hours" status={["failed"]} since={since} highlight />
      <Statistic
        label="approvals pending"
        total={approvals.data?.total}
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
  const runs = useQuery(homeRunsQuery(status, since));
  const search = new URLSearchParams({
    status: status.join(","),
    ...(since !== undefined && { since: since.slice(0, 10) }),
  });
  return (
    <Statistic
      label={label}
      total={runs.data?.total}
      unavailable={runs.isError}
      to={`/runs?${search.toString()}`}
      highlight={highlight}
    />
  );
}

interface StatisticProps {
  label: string;
  total: number | null | undefined;
  unavailable: boolean;
  to: string;
  highlight?: boolean;
}

function Statistic({ label, total, unavailable, to, highlight = false }: StatisticProps) {
  const isRed = highlight && typeof total === "number" && total > 0;
  return (
    <Card component={Link} to={to} withBorder padding="md" className="statistic">
      {total === undefined && !unavailable ? (
        <Skeleton height={32} width={60} />
      ) : (
        <Text size="1.75rem" lh={1.15} fw={650} {...(isRed && { c: "var(--mantine-color-error)" })}>
          {typeof total === "number" ? numberFormat.format(total) : "–"}
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {label}
      </Text>
    </Card>
  );
}

/** How the last day went, each number a link to what it counts. */
import { Card, SimpleGrid, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import type { RunStatus } from "../../../schemas/run.ts";
import { pendingApprovalsQuery, homeRunsQuery } from "./queries.ts";

const numbers = new Intl.NumberFormat();

export function RunStatistics({ since }: { since: string }) {
  const approvals = useQuery(pendingApprovalsQuery);
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
      <Runs label="failed in 24 hours" status={["failed"]} since={since} alarm />
      <Figure
        label="approvals waiting"
        total={approvals.data?.total}
        unavailable={approvals.isError}
        to="/approvals"
      />
      <Runs label="under way" status={["queued", "running", "waiting"]} />
      <Runs label="succeeded in 24 hours" status={["succeeded"]} since={since} />
    </SimpleGrid>
  );
}

function Runs({
  label,
  status,
  since,
  alarm = false,
}: {
  label: string;
  status: RunStatus[];
  since?: string;
  alarm?: boolean;
}) {
  const runs = useQuery(homeRunsQuery(status, since));
  const search = new URLSearchParams({
    status: status.join(","),
    ...(since !== undefined && { since: since.slice(0, 10) }),
  });
  return (
    <Figure
      label={label}
      total={runs.data?.total}
      unavailable={runs.isError}
      to={`/runs?${search.toString()}`}
      highlight={alarm}
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

function Figure({ label, total, unavailable, to, highlight = false }: StatisticProps) {
  const red = highlight && typeof total === "number" && total > 0;
  return (
    <Card component={Link} to={to} withBorder padding="md" className="figure">
      {total === undefined && !unavailable ? (
        <Skeleton height={32} width={60} />
      ) : (
        <Text size="1.75rem" lh={1.15} fw={650} {...(red && { c: "var(--mantine-color-error)" })}>
          {typeof total === "number" ? numbers.format(total) : "–"}
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {label}
      </Text>
    </Card>
  );
}

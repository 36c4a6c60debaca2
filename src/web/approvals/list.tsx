/** The list of approvals, by status. The status and the run are query parameters of the page. */
import { Anchor, Badge, Button, Card, Group, Select, Stack, Text } from "@mantine/core";
import { IconUser } from "@tabler/icons-react";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import type { Approval } from "../../../schemas/approval.ts";
import type { ApprovalStatus } from "../../../schemas/run.ts";
import { send } from "../api/client.ts";
import { useSession } from "../app/session.tsx";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { Snippet } from "../ui/copy.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { EmptyState, Page } from "../ui/page.tsx";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";
import { Time } from "../ui/time.tsx";
import { ApprovalBadge, APPROVAL_STATUSES } from "./approval-badge.tsx";

const PAGE_SIZE = 50;
const POLL_INTERVAL_MS = 10_000;

export default function ApprovalList() {
  const [params, setParams] = useSearchParams();
  const status = APPROVAL_STATUSES.find((known) => known === params.get("status")) ?? "pending";
  const runId = params.get("run") ?? undefined;
  const query = useApprovals(status, runId);
  return (
    <Page title="Approvals" about="Runs that wait for a person's decision.">
      <Group align="flex-end">
        <Select
          label="Status"
          data={STATUS_OPTIONS}
          value={status}
          allowDeselect={false}
          maw={240}
          onChange={(to) =>
            setParams(
              (current) => {
                if (to === null || to === "pending") current.delete("status");
                else current.set("status", to);
                return current;
              },
              { replace: true },
            )
          }
        />
        {runId !== undefined && (
          <Button variant="default" onClick={() => setParams({}, { replace: true })}>
            Clear run filter
          </Button>
        )}
      </Group>
      <PagedList query={query} empty={<NoApprovals status={status} />}>
        {(approvals) => (
          <Stack component="ul" gap="sm" m={0} p={0} aria-label="Approvals" style={{ listStyle: "none" }}>
            {approvals.map((approval) => (
              <ApprovalCard key={approval.id} approval={approval} />
            ))}
          </Stack>
        )}
      </PagedList>
    </Page>
  );
}

const STATUS_OPTIONS: { value: ApprovalStatus; label: string }[] = [
  { value: "pending", label: "Pending" },
  { value: "approved", label: "Approved" },
  { value: "declined", label: "Declined" },
  { value: "expired", label: "Expired" },
  { value: "cancelled", label: "Cancelled" },
];

function useApprovals(status: ApprovalStatus, runId: string | undefined) {
  const filter = useProjectFilter();
  return useInfiniteQuery({
    queryKey: ["approvals", "list", status, runId ?? null, filter],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/approvals", {
        query: {
          status,
          limit: PAGE_SIZE,
          ...filter,
          ...(runId !== undefined && { run_id: runId }),
          ...cursorParam(pageParam),
        },
        signal,
      }),
    ...cursorPagination,
    placeholderData: keepPreviousData,
    refetchInterval: status === "pending" && POLL_INTERVAL_MS,
  });
}

function ApprovalCard({ approval }: { approval: Approval }) {
  const { user } = useSession();
  const { id, run_id: runId, workflow_id: workflow, step_id: step, item, assignees, status } = approval;
  const isAssignedToYou = status === "pending" && assignees.includes(user.email);
  return (
    <Card withBorder component="li" p="md">
      <Stack gap={6}>
        <Group justify="space-between" align="flex-start" gap="xs">
          <Anchor
            component={Link}
            to={`/approvals/${id}`}
            fw={500}
            flex="1 1 240px"
            lineClamp={3}
            style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}
          >
            {approval.message}
          </Anchor>
          <Group gap={6} wrap="nowrap" miw="max-content">
            <ProjectBadge project={approval.project} inList />
            {isAssignedToYou && (
              <Badge tt="none" variant="outline" leftSection={<IconUser size={12} aria-hidden />}>
                assigned to you
              </Badge>
            )}
            <ApprovalBadge status={status} />
          </Group>
        </Group>
        <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {step}
          {item !== undefined && `, item ${item},`}
          {workflow !== null && (
            <>
              {" "}
              in{" "}
              <Anchor component={Link} to={`/workflows/${workflow}`} inherit c="dimmed" underline="always">
                {workflow}
              </Anchor>
            </>
          )}{" "}
          ·{" "}
          <Anchor component={Link} to={`/runs/${runId}?step=${step}`} inherit c="dimmed" underline="always">
            {runId}
          </Anchor>
        </Text>
        <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          <ApprovalTimes approval={approval} />
          {assignees.length > 0 && ` · assigned to ${assignees.join(", ")}`}
        </Text>
      </Stack>
    </Card>
  );
}

function ApprovalTimes({
  approval: { status, created_at: from, expires_at: until, decided_at: at, decided_by: by },
}: {
  approval: Approval;
}) {
  if (status === "pending") {
    return (
      <>
        requested <Time at={from} ago />
        {until !== null && (
          <>
            {" "}
            · expires <Time at={until} />
          </>
        )}
      </>
    );
  }
  return (
    <>
      {at === null ? (
        <>
          requested <Time at={from} ago />
        </>
      ) : (
        <Time at={at} ago />
      )}
      {by !== null && ` by ${by}`}
    </>
  );
}

function NoApprovals({ status }: { status: ApprovalStatus }) {
  if (status !== "pending") return <EmptyState title={`No ${status} approvals`} />;
  return (
    <EmptyState title="No approvals are pending">
      A step of type approval pauses its run until somebody decides. Restarts don&apos;t affect it. By
      default, neither the user who started the run nor those who wrote what it runs can decide.
      <Snippet label="approval step" text={STEP_EXAMPLE} />
    </EmptyState>
  );
}

const STEP_EXAMPLE = `- id: approve
  type: approval
  message: Send this to the team?
  assignees: [ann@example.com]
  timeout: 2d`;

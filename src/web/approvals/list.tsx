/** What waits for somebody to decide, and what was decided. The status stands in the address. */
import { Anchor, Badge, Button, Card, Group, Select, Stack, Text } from "@mantine/core";
import { IconUser } from "@tabler/icons-react";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import type { Approval, ApprovalStatus } from "../../../schemas/run.ts";
import { send } from "../api/client.ts";
import { useSession } from "../app/session.tsx";
import { Snippet } from "../ui/copy.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { EmptyState, Page } from "../ui/page.tsx";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";
import { Time } from "../ui/time.tsx";
import { ApprovalBadge, APPROVAL_STATUSES } from "./approval-badge.tsx";

const AT_ONCE = 50;
const EVERY_MS = 10_000;

export default function ApprovalList() {
  const [params, setParams] = useSearchParams();
  const status = APPROVAL_STATUSES.find((word) => word === params.get("status")) ?? "pending";
  const runId = params.get("run") ?? undefined;
  const approvals = useApprovals(status, runId);
  return (
    <Page title="Approvals" about="What runs ask people before they go on.">
      <Group align="flex-end">
        <Select
          label="Status"
          data={WORDS}
          value={status}
          allowDeselect={false}
          maw={240}
          onChange={(to) =>
            setParams(
              (before) => {
                if (to === null || to === "pending") before.delete("status");
                else before.set("status", to);
                return before;
              },
              { replace: true },
            )
          }
        />
        {runId !== undefined && (
          <Button variant="default" onClick={() => setParams({}, { replace: true })}>
            Of all runs, not only {runId}
          </Button>
        )}
      </Group>
      <PagedList query={approvals} empty={<Nothing status={status} />}>
        {(shown) => (
          <Stack component="ul" gap="sm" m={0} p={0} aria-label="Approvals" style={{ listStyle: "none" }}>
            {shown.map((approval) => (
              <OneApproval key={approval.id} approval={approval} />
            ))}
          </Stack>
        )}
      </PagedList>
    </Page>
  );
}

const WORDS: { value: ApprovalStatus; label: string }[] = [
  { value: "pending", label: "Waiting" },
  { value: "approved", label: "Approved" },
  { value: "declined", label: "Declined" },
  { value: "expired", label: "Expired" },
  { value: "cancelled", label: "Cancelled with their run" },
];

function useApprovals(status: ApprovalStatus, runId: string | undefined) {
  return useInfiniteQuery({
    queryKey: ["approvals", "list", status, runId ?? null],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/approvals", {
        query: {
          status,
          limit: AT_ONCE,
          ...(runId !== undefined && { run_id: runId }),
          ...cursorParam(pageParam),
        },
        signal,
      }),
    ...cursorPagination,
    placeholderData: keepPreviousData,
    refetchInterval: status === "pending" && EVERY_MS,
  });
}

function OneApproval({ approval }: { approval: Approval }) {
  const { user } = useSession();
  const { id, run_id: runId, workflow_id: workflow, step_id: step, item, assignees, status } = approval;
  const forYou = status === "pending" && assignees.includes(user.email);
  return (
    <Card withBorder component="li" p="md">
      <Stack gap={6}>
        <Group justify="space-between" wrap="nowrap" align="flex-start" gap="sm">
          <Anchor
            component={Link}
            to={`/approvals/${id}`}
            fw={500}
            lineClamp={3}
            style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}
          >
            {approval.message}
          </Anchor>
          <Group gap={6} wrap="nowrap" miw="max-content">
            {forYou && (
              <Badge tt="none" variant="outline" leftSection={<IconUser size={12} aria-hidden />}>
                for you
              </Badge>
            )}
            <ApprovalBadge status={status} />
          </Group>
        </Group>
        <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {step}
          {item !== undefined && `, item ${item},`} of{" "}
          <Anchor component={Link} to={`/workflows/${workflow}`} inherit c="dimmed" underline="always">
            {workflow}
          </Anchor>{" "}
          ·{" "}
          <Anchor component={Link} to={`/runs/${runId}?step=${step}`} inherit c="dimmed" underline="always">
            {runId}
          </Anchor>
        </Text>
        <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          <When approval={approval} />
          {assignees.length > 0 && ` · sent to ${assignees.join(", ")}`}
        </Text>
      </Stack>
    </Card>
  );
}

function When({
  approval: { status, created_at: from, expires_at: until, decided_at: at, decided_by: by },
}: {
  approval: Approval;
}) {
  if (status === "pending") {
    return (
      <>
        asked <Time at={from} ago />
        {until !== null && (
          <>
            {" "}
            · can be decided until <Time at={until} />
          </>
        )}
      </>
    );
  }
  return (
    <>
      {at === null ? (
        <>
          asked <Time at={from} ago />
        </>
      ) : (
        <Time at={at} ago />
      )}
      {by !== null && ` by ${by}`}
    </>
  );
}

function Nothing({ status }: { status: ApprovalStatus }) {
  if (status !== "pending") return <EmptyState title="None">No approval has ended that way.</EmptyState>;
  return (
    <EmptyState title="Nothing waits for a decision">
      A workflow asks a person with a step of the type approval. Its run waits here, through restarts and for
      days, until somebody other than who started it decides.
      <Snippet label="step that asks for an approval" text={STEP} />
    </EmptyState>
  );
}

const STEP = `- id: approve
  type: approval
  message: Send this to the team?
  assignees: [ann@example.com]
  timeout: 2d`;

/** The list of approvals, by status. The status, whom they concern and the run are query parameters of the page. */
import { Button, Group, Select, SegmentedControl, Stack } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import type { ForMe } from "../../../schemas/approval.ts";
import type { ApprovalStatus } from "../../../schemas/run.ts";
import { send } from "../api/client.ts";
import { OpenInterruptions } from "../interruptions/open-interruptions.tsx";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { Snippet } from "../ui/copy.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { EmptyState, Page } from "../ui/page.tsx";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";
import { APPROVAL_STATUSES } from "./approval-badge.tsx";
import { ApprovalCard } from "./approval-card.tsx";

/** Of pending ones with what can run after each. */
const PENDING_PAGE_SIZE = 20;
const PAGE_SIZE = 50;
const POLL_INTERVAL_MS = 10_000;

export default function ApprovalList() {
  const [params, setParams] = useSearchParams();
  const status = APPROVAL_STATUSES.find((known) => known === params.get("status")) ?? "pending";
  const runId = params.get("run") ?? undefined;
  const forMe = FOR_ME.find(({ value }) => value === params.get("for_me"))?.value ?? "all";
  const query = useApprovals(status, { runId, forMe });
  return (
    <Page
      title="Approvals"
      about="Runs that wait for a person's decision."
      actions={
        <Button component={Link} to="/interruptions" variant="default">
          Interruptions
        </Button>
      }
    >
      <OpenInterruptions />
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
        {status === "pending" && (
          <SegmentedControl
            aria-label="Whose"
            data={FOR_ME}
            value={forMe}
            onChange={(to) =>
              setParams(
                (current) => {
                  if (to === "all") current.delete("for_me");
                  else current.set("for_me", to);
                  return current;
                },
                { replace: true },
              )
            }
          />
        )}
        {runId !== undefined && (
          <Button variant="default" onClick={() => setParams({}, { replace: true })}>
            Clear run filter
          </Button>
        )}
      </Group>
      <PagedList query={query} empty={<NoApprovals status={status} forMe={forMe} />}>
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

const FOR_ME: { value: ForMe; label: string }[] = [
  { value: "all", label: "All" },
  { value: "assigned", label: "Assigned to me" },
  { value: "decidable", label: "I may decide" },
];

function useApprovals(status: ApprovalStatus, { runId, forMe }: { runId: string | undefined; forMe: ForMe }) {
  const isPending = status === "pending";
  const filter = useProjectFilter();
  return useInfiniteQuery({
    queryKey: ["approvals", "list", status, isPending ? forMe : null, runId ?? null, filter],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/approvals", {
        query: {
          status,
          limit: isPending ? PENDING_PAGE_SIZE : PAGE_SIZE,
          ...(isPending && { for_me: forMe }),
          ...filter,
          ...(runId !== undefined && { run_id: runId }),
          ...cursorParam(pageParam),
        },
        signal,
      }),
    ...cursorPagination,
    placeholderData: keepPreviousData,
    refetchInterval: isPending && POLL_INTERVAL_MS,
  });
}

function NoApprovals({ status, forMe }: { status: ApprovalStatus; forMe: ForMe }) {
  if (status !== "pending") return <EmptyState title={`No ${status} approvals`} />;
  if (forMe === "assigned") return <EmptyState title="No approvals are assigned to you" />;
  if (forMe === "decidable") return <EmptyState title="No approvals wait for your decision" />;
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

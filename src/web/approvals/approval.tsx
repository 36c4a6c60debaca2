/** The page of one approval: the message, the run's data so far, and the decision form or the outcome. */
import { Anchor, Card, Group, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { Link, useParams } from "react-router";
import type { Approval } from "../../../schemas/approval.ts";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { Fact, Facts, RunLink } from "../runs/facts.tsx";
import { runQuery } from "../runs/queries.ts";
import { useLiveRun } from "../runs/use-live-run.ts";
import { NotFound, QueryContent, Page } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { useWorkflowText, WorkflowLink, WorkflowName } from "../workflows/names.tsx";
import { ApprovalPlan } from "./approval-plan.tsx";
import { ApprovalOutcome } from "./approval-outcome.tsx";
import { Decision } from "./decision.tsx";
import { DecisionsSoFar } from "./decisions-so-far.tsx";
import { assigneeNames, isShared, progressText } from "./progress.ts";
import { approvalQuery } from "./queries.ts";
import { ApprovalBadge } from "./approval-badge.tsx";
import { ApprovalContext } from "./approval-context.tsx";
import { Evidence } from "./evidence.tsx";
import { LinkVisits } from "./link-visits.tsx";

/** Poll interval while the approval is pending, for what the run does not report, such as that it was passed on. */
const POLL_INTERVAL_MS = 10_000;

export default function ApprovalPage() {
  const { approvalId = "" } = useParams();
  const query = useQuery({
    ...approvalQuery(approvalId),
    refetchInterval: ({ state }) => state.data?.status === "pending" && POLL_INTERVAL_MS,
  });
  const approval = query.data;
  const name = useWorkflowText(approval?.workflow_id ?? null);
  return (
    <Page
      title={approval ? `Approval for ${approval.workflow_id === null ? "a single step" : name}` : "Approval"}
      heading={approval ? <Heading approval={approval} /> : "Approval"}
      about={approvalId}
    >
      <QueryContent query={query}>
        {(loaded) =>
          loaded === null ? (
            <NotFound code="approval_not_found" id={approvalId} />
          ) : (
            <>
              {loaded.status === "pending" && <RefreshWithRun approval={loaded} />}
              <ApprovalDetails key={loaded.id} approval={loaded} />
            </>
          )
        }
      </QueryContent>
    </Page>
  );
}

const Heading = ({ approval: { workflow_id: workflow } }: { approval: Approval }) => (
  <>Approval for {workflow === null ? "a single step" : <WorkflowName id={workflow} />}</>
);

/** Fetches the approval again when its step reports that somebody has decided. */
function RefreshWithRun({ approval: { id, run_id: runId, step_id: stepId } }: { approval: Approval }) {
  const client = useQueryClient();
  const { run } = useLiveRun(runId);
  const step = run?.steps.find((candidate) => candidate.id === stepId);
  useEffect(() => {
    if (step !== undefined) void client.invalidateQueries({ queryKey: approvalQuery(id).queryKey });
  }, [client, id, step]);
  return null;
}

function ApprovalDetails({ approval }: { approval: Approval }) {
  const { status, message } = approval;
  return (
    <Stack gap="lg">
      <Card withBorder p="lg">
        <Stack gap="sm" align="flex-start">
          <Group gap="xs">
            <ApprovalBadge status={status} />
            <ProjectBadge project={approval.project} />
          </Group>
          <Text size="lg" style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
            {message}
          </Text>
        </Stack>
      </Card>
      <ApprovalFacts approval={approval} />
      <Evidence approval={approval} />
      {approval.plan !== undefined && <ApprovalPlan plan={approval.plan} />}
      <DecisionsSoFar approval={approval} />
      {status === "pending" ? <Decision approval={approval} /> : <ApprovalOutcome approval={approval} />}
      <LinkVisits approval={approval} />
      <ApprovalContext approval={approval} />
    </Stack>
  );
}

function ApprovalFacts({ approval }: { approval: Approval }) {
  const { run_id: runId, workflow_id: workflow, step_id: step, item, assignees, status } = approval;
  const run = useQuery(runQuery(runId));
  return (
    <Facts>
      <Fact name="Workflow">
        {workflow === null ? "None: a single step" : <WorkflowLink id={workflow} />}
      </Fact>
      <Fact name="Run">
        <RunLink id={runId} />
      </Fact>
      {run.data !== undefined && <Fact name="Started by">{run.data.started_by.owner}</Fact>}
      <Fact name="Step">
        <Anchor
          component={Link}
          to={`/runs/${runId}?step=${step}${item === undefined ? "" : `&item=${item}`}`}
          inherit
        >
          {step}
        </Anchor>
        {item !== undefined && `, item ${item}`}
      </Fact>
      <Fact name="Requested">
        <Time at={approval.created_at} />
      </Fact>
      {status === "pending" && approval.expires_at !== null && (
        <Fact name="Expires">
          <Time at={approval.expires_at} />
        </Fact>
      )}
      {assignees.length > 0 && <Fact name="Assigned to">{assigneeNames(assignees)}</Fact>}
      {approval.decide_by_link === true && <Fact name="Link in the mail">Decides without an account</Fact>}
      {isShared(approval) && <Fact name="Approvals">{progressText(approval)}</Fact>}
      {(approval.escalates ?? []).map(({ at, to }) => (
        <Fact key={at} name="Escalates">
          <Time at={at} /> to {assigneeNames(to)}
        </Fact>
      ))}
    </Facts>
  );
}

/** One approval: what is asked, what the run has found so far, and the decision. */
import { Alert, Anchor, Card, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import type { Approval } from "../../../schemas/run.ts";
import { useHasScope, useSession } from "../app/session.tsx";
import { Fact, Facts, RunLink } from "../runs/facts.tsx";
import { runQuery } from "../runs/queries.ts";
import { EmptyState, QueryContent, Page } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { ApprovalOutcome } from "./approval-outcome.tsx";
import { DecisionForm } from "./decision-form.tsx";
import { approvalQuery } from "./queries.ts";
import { ApprovalBadge } from "./approval-badge.tsx";
import { ApprovalContext } from "./approval-context.tsx";

/** Somebody else may decide meanwhile. */
const EVERY_MS = 10_000;

export default function ApprovalPage() {
  const { approvalId = "" } = useParams();
  const query = useQuery({
    ...approvalQuery(approvalId),
    refetchInterval: ({ state }) => state.data?.status === "pending" && EVERY_MS,
  });
  const approval = query.data;
  return (
    <Page title={approval ? `Approval for ${approval.workflow_id}` : "Approval"} about={approvalId}>
      <QueryContent query={query}>
        {(found) =>
          found === null ? (
            <EmptyState title="There is no such approval">
              Its run may have been cleared away. <Link to="/approvals">What waits now</Link>
            </EmptyState>
          ) : (
            <Shown key={found.id} approval={found} />
          )
        }
      </QueryContent>
    </Page>
  );
}

function Shown({ approval }: { approval: Approval }) {
  const { status, message } = approval;
  return (
    <Stack gap="lg">
      <Card withBorder p="lg">
        <Stack gap="sm" align="flex-start">
          <ApprovalBadge status={status} />
          <Text size="lg" style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
            {message}
          </Text>
        </Stack>
      </Card>
      <ApprovalFacts approval={approval} />
      {status === "pending" ? <MayDecide approval={approval} /> : <ApprovalOutcome approval={approval} />}
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
        <Anchor component={Link} to={`/workflows/${workflow}`} inherit>
          {workflow}
        </Anchor>
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
      <Fact name="Asked">
        <Time at={approval.created_at} />
      </Fact>
      {status === "pending" && approval.expires_at !== null && (
        <Fact name="Can be decided until">
          <Time at={approval.expires_at} />
        </Fact>
      )}
      {assignees.length > 0 && <Fact name="Sent to">{assignees.join(", ")}</Fact>}
    </Facts>
  );
}

function MayDecide({ approval }: { approval: Approval }) {
  const may = useHasScope();
  const { user } = useSession();
  const run = useQuery(runQuery(approval.run_id));
  if (!may("approve")) {
    return (
      <Alert color="gray" title="You can look, but not decide" role="note">
        Editors and admins decide, other than who started the run
        {approval.assignees.length > 0 && `. It was sent to ${approval.assignees.join(", ")}`}.
      </Alert>
    );
  }
  return (
    <>
      {run.data?.started_by.owner === user.email && (
        <Alert color="yellow" title="You started this run" role="note">
          Unless the operator allows it (approvals.by_starter in the configuration), somebody else must
          decide.
        </Alert>
      )}
      <DecisionForm approval={approval} />
    </>
  );
}

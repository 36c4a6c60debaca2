/** An approval in the list: the question, what can run after the decision, the evidence, and Approve and Decline. */
import { Anchor, Badge, Button, Card, Collapse, Group, List, Stack, Text } from "@mantine/core";
import { IconChevronDown, IconChevronRight, IconUser } from "@tabler/icons-react";
import { useId, useState } from "react";
import { Link } from "react-router";
import type { Approval } from "../../../schemas/approval.ts";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { Id } from "../ui/id.tsx";
import { ErrorAlert } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { WorkflowLink } from "../workflows/names.tsx";
import { ApprovalBadge } from "./approval-badge.tsx";
import { ApprovalContext } from "./approval-context.tsx";
import { ApprovalPlan, keyOfPlanned } from "./approval-plan.tsx";
import { Decision, useRefusal } from "./decision.tsx";
import { Evidence } from "./evidence.tsx";
import { DecisionButtons } from "./decision-buttons.tsx";
import { DecisionsSoFar } from "./decisions-so-far.tsx";
import { assigneeNames, byText, isShared, progressText } from "./progress.ts";
import { useDecide } from "./use-decide.ts";

/** Maximum number of steps that a card shows. With more the user opens it before they decide. */
const MAX_STEPS = 4;

export function ApprovalCard({ approval }: { approval: Approval }) {
  const { id, assignees, status, you } = approval;
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
          <Group gap={6}>
            <ProjectBadge project={approval.project} inList />
            {you?.assigned === true && (
              <Badge tt="none" variant="outline" leftSection={<IconUser size={12} aria-hidden />}>
                assigned to you
              </Badge>
            )}
            {isShared(approval) && (
              <Badge tt="none" variant="outline">
                {progressText(approval)}
              </Badge>
            )}
            <ApprovalBadge status={status} />
          </Group>
        </Group>
        <Origin approval={approval} />
        <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          <ApprovalTimes approval={approval} />
          {assignees.length > 0 && ` · assigned to ${assigneeNames(assignees)}`}
        </Text>
        {status === "pending" && approval.plan !== undefined && <PendingDetails approval={approval} />}
      </Stack>
    </Card>
  );
}

function PendingDetails({ approval }: { approval: Approval }) {
  const [open, setOpen] = useState(false);
  const details = useId();
  const Icon = open ? IconChevronDown : IconChevronRight;
  return (
    <>
      {!open && <PlanInBrief approval={approval} />}
      <Group gap="xs">
        {!open && <QuickDecision approval={approval} />}
        <Button
          variant="subtle"
          size="xs"
          leftSection={<Icon size={14} aria-hidden />}
          aria-expanded={open}
          aria-controls={details}
          onClick={() => setOpen(!open)}
        >
          {open ? "Less" : "Evidence, plan and comment"}
        </Button>
      </Group>
      <Collapse expanded={open} id={details}>
        {open && (
          <Stack gap="md" pt="xs">
            <Evidence approval={approval} />
            <ApprovalPlan plan={approval.plan!} />
            <ApprovalContext approval={approval} />
            <DecisionsSoFar approval={approval} />
            <Decision approval={approval} />
          </Stack>
        )}
      </Collapse>
    </>
  );
}

const stepsOf = ({ plan }: Approval) => plan!.workflows.flatMap(({ steps }) => steps);

/** What can run after the decision, as far as the card has room. */
function PlanInBrief({ approval }: { approval: Approval }) {
  const steps = stepsOf(approval);
  if (steps.length === 0) return <Text size="sm">Nothing else runs after the decision.</Text>;
  const rest = steps.length - MAX_STEPS;
  return (
    <Stack gap={2}>
      <Text size="sm">After the decision these can run:</Text>
      <List size="sm" withPadding aria-label="What can run after the decision">
        {steps.slice(0, MAX_STEPS).map((step) => (
          <List.Item key={keyOfPlanned(step)}>
            <Text size="sm" style={{ overflowWrap: "anywhere" }}>
              <Id>{step.id}</Id>: {step.effect}
              {step.if !== undefined && `, if ${step.if}`}
            </Text>
          </List.Item>
        ))}
      </List>
      {rest > 0 && <Text size="sm">… and {rest} more</Text>}
    </Stack>
  );
}

/** Approve and Decline without a comment: where the card shows all that the decision lets run, and nothing has to be filled in. */
function QuickDecision({ approval }: { approval: Approval }) {
  const refusal = useRefusal(approval);
  const id = useId();
  const decide = useDecide(approval, { written: () => ({}) });
  const isWhole = stepsOf(approval).length <= MAX_STEPS && approval.plan!.workflows.every(isShownWhole);
  const needsReview =
    approval.form !== null || !isWhole || approval.plan!.changed || approval.you?.override === true;
  if (refusal === null && needsReview) return null;
  return (
    <Stack gap="xs">
      {decide.error !== null && <ErrorAlert error={decide.error} />}
      {refusal !== null && (
        <Text size="sm" id={id} style={{ overflowWrap: "anywhere" }}>
          {refusal}
        </Text>
      )}
      <DecisionButtons
        approval={approval}
        size="xs"
        pending={decide.isPending ? decide.variables : null}
        disabledBy={refusal === null ? undefined : id}
        approve={() => decide.mutate("approve")}
        decline={() => decide.mutate("decline")}
      />
    </Stack>
  );
}

/** Whether the steps say all: a workflow of another project shows none, and one that runs on failure is named beside them. */
const isShownWhole = ({
  foreign,
  on_failure: onFailure,
}: NonNullable<Approval["plan"]>["workflows"][number]): boolean =>
  foreign !== true && onFailure === undefined;

function Origin({
  approval: { run_id: runId, workflow_id: workflow, step_id: step, item },
}: {
  approval: Approval;
}) {
  return (
    <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
      <Id>{step}</Id>
      {item !== undefined && `, item ${item},`}
      {workflow !== null && (
        <>
          {" "}
          in <WorkflowLink id={workflow} c="dimmed" underline="always" />
        </>
      )}{" "}
      ·{" "}
      <Anchor component={Link} to={`/runs/${runId}?step=${step}`} inherit c="dimmed" underline="always">
        {runId}
      </Anchor>
    </Text>
  );
}

function ApprovalTimes({
  approval: { status, created_at: from, expires_at: until, decided_at: at, decided_by: by, decided_via: via },
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
      {by !== null && ` by ${byText(by, via)}`}
    </>
  );
}

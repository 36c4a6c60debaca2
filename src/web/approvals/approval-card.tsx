/** An approval in the list: the question, what can run after the decision, the evidence, and Approve and Decline. */
import { Anchor, Badge, Button, Card, Collapse, Group, List, Stack, Text } from "@mantine/core";
import { IconChevronDown, IconChevronRight, IconUser } from "@tabler/icons-react";
import { type ReactNode, useId, useState } from "react";
import { Link } from "react-router";
import * as texts from "#texts/approvals";
import type { Approval } from "../../../schemas/approval.ts";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { strong } from "../ui/message-tags.tsx";
import { ErrorAlert } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { WorkflowName } from "../workflows/workflow-name.tsx";
import { ApprovalBadge } from "./approval-badge.tsx";
import { ApprovalContext } from "./approval-context.tsx";
import { ApprovalPlan } from "./approval-plan.tsx";
import { Decision, useRefusal } from "./decision.tsx";
import { Evidence } from "./evidence.tsx";
import { DecisionButtons } from "./decision-buttons.tsx";
import { DecisionsSoFar } from "./decisions-so-far.tsx";
import { PlanChanged } from "./plan-changed.tsx";
import { assigneeNames, isShared, progressText } from "./progress.ts";
import { MAX_CARD_STEPS, reviewReason } from "./review-reason.ts";
import { useDecide } from "./use-decide.ts";

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
                {texts.assignedToYou}
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
          {assignees.length === 0
            ? approvalTimes(approval)
            : texts.timesAssigned({ times: approvalTimes(approval), assignees: assigneeNames(assignees) })}
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
      <Evidence approval={approval} />
      {!open && <PlanChanged approval={approval} />}
      {!open && <PlanInBrief approval={approval} />}
      {!open && <QuickDecision approval={approval} review={() => setOpen(true)} />}
      <Group gap="xs">
        <Button
          variant="subtle"
          size="xs"
          leftSection={<Icon size={14} aria-hidden />}
          aria-expanded={open}
          aria-controls={details}
          onClick={() => setOpen(!open)}
        >
          {open ? texts.less : texts.details}
        </Button>
      </Group>
      <Collapse expanded={open} id={details}>
        {open && (
          <Stack gap="md" pt="xs">
            <ApprovalPlan approval={approval} />
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
  if (steps.length === 0) return <Text size="sm">{texts.nothingAfterDecision}</Text>;
  const rest = steps.length - MAX_CARD_STEPS;
  return (
    <Stack gap={2}>
      <Text size="sm">{texts.afterDecision}</Text>
      <List size="sm" withPadding aria-label={texts.canRun}>
        {steps.slice(0, MAX_CARD_STEPS).map((step) => (
          <List.Item key={`${step.undo === true ? "undo " : ""}${step.id}`}>
            <Text size="sm" style={{ overflowWrap: "anywhere" }}>
              {step.if === undefined
                ? texts.step({ id: step.id, effect: step.effect, b: strong })
                : texts.stepIf({ id: step.id, effect: step.effect, condition: step.if, b: strong })}
            </Text>
          </List.Item>
        ))}
      </List>
      {rest > 0 && <Text size="sm">{texts.more({ count: rest })}</Text>}
    </Stack>
  );
}

/** Approve and Decline without a comment; where the card does not show all that a decision needs, why, and the way on. */
function QuickDecision({ approval, review }: { approval: Approval; review: () => void }) {
  const refusal = useRefusal(approval);
  const id = useId();
  const decide = useDecide(approval, { written: () => ({}) });
  const reason = reviewReason(approval);
  if (refusal === null && reason !== null)
    return (
      <Stack gap="xs" align="flex-start">
        <Text size="sm" id={id} style={{ overflowWrap: "anywhere" }}>
          {reason}
        </Text>
        <Button size="xs" aria-describedby={id} onClick={review}>
          {texts.reviewAndDecide}
        </Button>
      </Stack>
    );
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

function Origin({
  approval: { run_id: runId, workflow_id: workflow, step_id: step, item },
}: {
  approval: Approval;
}) {
  const shared = {
    step,
    item: item === undefined ? "none" : String(item),
    run: (
      <Anchor component={Link} to={`/runs/${runId}?step=${step}`} inherit c="dimmed" underline="always">
        {runId}
      </Anchor>
    ),
  };
  return (
    <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
      {workflow === null
        ? texts.origin(shared)
        : texts.originInWorkflow({
            ...shared,
            workflow: (
              <Anchor component={Link} to={`/workflows/${workflow}`} inherit c="dimmed" underline="always">
                <WorkflowName id={workflow} />
              </Anchor>
            ),
          })}
    </Text>
  );
}

function approvalTimes(approval: Approval): ReactNode {
  const { status, created_at: from, expires_at: until, decided_at: at, decided_by: by } = approval;
  const { decided_via: via = "api" } = approval;
  const requested = <Time at={from} ago />;
  if (status === "pending")
    return until === null
      ? texts.requested({ time: requested })
      : texts.requestedExpires({ time: requested, until: <Time at={until} zone /> });
  if (at === null)
    return by === null
      ? texts.requested({ time: requested })
      : texts.requestedBy({ time: requested, by, via });
  const decided = <Time at={at} ago />;
  return by === null ? decided : texts.decidedBy({ time: decided, by, via });
}

/** What can run after the decision: the rest of the run and of those that wait for it, and what they can call. */
import { Anchor, Card, List, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import * as texts from "#texts/approvals";
import type { Approval, ApprovalPlan as Plan } from "../../../schemas/approval.ts";
import { Section } from "../runs/section.tsx";
import { strong } from "../ui/message-tags.tsx";
import { WorkflowName } from "../workflows/workflow-name.tsx";
import { PlanChanged } from "./plan-changed.tsx";

type PlannedWorkflow = Plan["workflows"][number];

/** Nothing for an approval without a plan: one that expired, or whose run was stopped. */
export function ApprovalPlan({ approval }: { approval: Approval }) {
  const { plan, status } = approval;
  if (plan === undefined) return null;
  const shown = plan.workflows.filter(hasContent);
  return (
    <Section title={status === "pending" ? texts.canRun : texts.didRun} order={2}>
      <PlanChanged approval={approval} />
      {shown.length === 0 && <Text size="sm">{texts.nothingElse}</Text>}
      {shown.map((workflow) => (
        <PlannedSteps
          key={`${workflow.role} ${workflow.run_id ?? ""} ${workflow.workflow_id}`}
          workflow={workflow}
        />
      ))}
    </Section>
  );
}

const hasContent = ({ role, steps, on_failure: onFailure }: PlannedWorkflow): boolean =>
  role === "called" || steps.length > 0 || onFailure !== undefined;

export function PlannedSteps({
  workflow: { workflow_id: id, version, role, patched, on_failure: onFailure, steps },
}: {
  workflow: PlannedWorkflow;
}) {
  const shared = { role, patched: `${patched === true}` } as const;
  return (
    <Card withBorder p="md">
      <Stack gap="xs">
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {id === null
            ? texts.plannedStepAlone(shared)
            : texts.plannedWorkflow({
                ...shared,
                version: version === null ? "none" : String(version),
                workflow: (
                  <Anchor component={Link} to={`/workflows/${id}`} inherit underline="always">
                    <WorkflowName id={id} />
                  </Anchor>
                ),
              })}
        </Text>
        <List
          size="sm"
          spacing={4}
          listStyleType="none"
          aria-label={id === null ? texts.stepsOfSingle : texts.stepsOf({ workflow: id })}
        >
          {steps.map((step) => (
            <List.Item key={`${step.undo === true ? "undo " : ""}${step.id}`}>
              <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                {describeStep(step)}
              </Text>
            </List.Item>
          ))}
        </List>
        {onFailure !== undefined && <Text size="sm">{texts.ifItFails({ workflow: onFailure })}</Text>}
      </Stack>
    </Card>
  );
}

function describeStep({
  id,
  type,
  effect,
  undo,
  if: condition,
}: PlannedWorkflow["steps"][number]): ReactNode {
  const shared = {
    id,
    type,
    effect,
    undo: `${undo === true}`,
    b: strong,
  } as const;
  if (condition === undefined) return texts.plannedStep(shared);
  return texts.plannedStepIf({
    ...shared,
    expression: condition,
    condition: (children) => (
      <Text span c="dimmed" inherit>
        {children}
      </Text>
    ),
  });
}

/** What can still run after the decision: the rest of the run and of those that wait for it, and what they can call. */
import { Alert, Card, List, Stack, Text } from "@mantine/core";
import type { ApprovalPlan as Plan } from "../../../schemas/approval.ts";
import { Section } from "../runs/section.tsx";
import { Id } from "../ui/id.tsx";
import { useWorkflowText, WorkflowLink, WorkflowName } from "../workflows/names.tsx";
import { isShown, PLAN_CHANGED, type PlannedWorkflow, ROLE_TEXTS, stepPrefix } from "./texts.ts";

/** A key in lists of planned steps, where steps inside of a step have its id. */
export const keyOfPlanned = ({ id, undo, lookup }: PlannedWorkflow["steps"][number]): string =>
  `${undo === true ? "undo " : lookup === true ? "lookup " : ""}${id}`;

export function ApprovalPlan({ plan }: { plan: Plan }) {
  const shown = plan.workflows.filter(isShown);
  return (
    <Section title="What can run after the decision" order={2}>
      {plan.changed && (
        <Alert color="yellow" title={PLAN_CHANGED.title} role="note">
          {PLAN_CHANGED.text}
        </Alert>
      )}
      {shown.length === 0 && <Text size="sm">Nothing else runs.</Text>}
      {shown.map((workflow) => (
        <PlannedSteps
          key={`${workflow.role} ${workflow.run_id ?? ""} ${workflow.workflow_id}`}
          workflow={workflow}
        />
      ))}
    </Section>
  );
}

export function PlannedSteps({
  workflow: { workflow_id: id, version, role, patched, on_failure: onFailure, steps },
}: {
  workflow: PlannedWorkflow;
}) {
  const source = version === null ? "does not exist" : `version ${version}`;
  const name = useWorkflowText(id);
  return (
    <Card withBorder p="md">
      <Stack gap="xs">
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {id === null ? (
            "A single step"
          ) : (
            <>
              <WorkflowLink id={id} underline="always" />, {source}
            </>
          )}
          {patched === true && ", with a changed definition"}: {ROLE_TEXTS[role]}
        </Text>
        <List
          size="sm"
          spacing={4}
          listStyleType="none"
          aria-label={`Steps of ${id === null ? "a single step" : name}`}
        >
          {steps.map((step) => (
            <List.Item key={keyOfPlanned(step)}>
              <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                <strong>
                  {stepPrefix(step)}
                  <Id>{step.id}</Id>
                </strong>{" "}
                ({step.type}): {step.effect}
                {step.if !== undefined && (
                  <Text span c="dimmed" inherit>
                    , if {step.if}
                  </Text>
                )}
              </Text>
            </List.Item>
          ))}
        </List>
        {onFailure !== undefined && (
          <Text size="sm">
            If it fails, <WorkflowName id={onFailure} /> runs.
          </Text>
        )}
      </Stack>
    </Card>
  );
}

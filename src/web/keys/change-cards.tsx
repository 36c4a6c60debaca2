/** The cards of what a key did, and the list of what a revert does nothing about. */
import { Anchor, Badge, Card, Checkbox, Group, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { describeChange, describeNotReverted, describeOperation } from "../../../schemas/key-change-words.ts";
import type {
  ChangedSubscription,
  ChangedWorkflow,
  KeyChanges,
  OutcomeInForce,
  RotatedTrigger,
} from "../../../schemas/key-changes.ts";
import { pluralize } from "../runs/labels.ts";
import { EmptyState } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { WorkflowName } from "../workflows/names.tsx";

const OUTCOMES: Readonly<Record<OutcomeInForce, { color: string; label: string }>> = {
  revertible: { color: "blue", label: "can be reverted" },
  reverted: { color: "green", label: "reverted" },
  skipped: { color: "orange", label: "skipped" },
  unchanged: { color: "gray", label: "nothing to revert" },
  in_force: { color: "orange", label: "still in force" },
};

/** What a person leaves out of a revert, by id. */
interface Selection {
  excluded: ReadonlySet<string>;
  toggle: (id: string) => void;
}

interface ChangedProps {
  found: KeyChanges;
  /** What of it can be chosen; left out, nothing. */
  selection?: Selection;
}

/** All that a key did: what a revert is about, then what it does nothing about. */
export function Changed({ found, selection }: ChangedProps) {
  const { workflows, subscriptions, triggers, not_reverted: rest } = found;
  const isEmpty = workflows.length + subscriptions.length + triggers.length === 0;
  const checkboxOf = (outcome: OutcomeInForce, id: string, name: string): ReactNode =>
    outcome === "revertible" &&
    selection !== undefined && (
      <Checkbox
        aria-label={`Revert ${name}`}
        checked={!selection.excluded.has(id)}
        onChange={() => selection.toggle(id)}
      />
    );
  return (
    <>
      {isEmpty && found.already_reverted > 0 && (
        <EmptyState title="Everything that can be reverted is reverted">
          {`${pluralize(found.already_reverted, "workflow or subscription", "workflows and subscriptions")} already.`}
        </EmptyState>
      )}
      {workflows.map((workflow) => (
        <WorkflowCard
          key={workflow.workflow_id}
          workflow={workflow}
          selection={checkboxOf(workflow.outcome, workflow.workflow_id, workflow.name)}
        />
      ))}
      {subscriptions.map((subscription) => (
        <SubscriptionCard
          key={subscription.subscription_id}
          subscription={subscription}
          selection={checkboxOf(
            subscription.outcome,
            subscription.subscription_id,
            subscription.name ?? subscription.subscription_id,
          )}
        />
      ))}
      {triggers.map((trigger) => (
        <TriggerCard key={`${trigger.workflow_id}/${trigger.trigger}`} trigger={trigger} />
      ))}
      {rest.length > 0 && (
        <Card withBorder padding="sm">
          <Text fw={600}>Not reverted</Text>
          <Stack gap="xs" mt={4}>
            {rest.map((operation) => (
              <div key={`${operation.operation} ${operation.project ?? ""}`}>
                <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                  {describeNotReverted(operation)} · <Time at={operation.last_at} ago />
                </Text>
                <Text size="sm" c="dimmed">
                  {operation.remains}
                </Text>
              </div>
            ))}
          </Stack>
        </Card>
      )}
    </>
  );
}

interface ChangeCardProps {
  to: string;
  name: ReactNode;
  summary: ReactNode;
  outcome: OutcomeInForce;
  effects: readonly string[];
  reason: ChangedWorkflow["reason"];
  remains?: readonly string[];
  selection?: ReactNode;
}

function ChangeCard({ to, name, summary, outcome, effects, reason, remains, selection }: ChangeCardProps) {
  const { color, label } = OUTCOMES[outcome];
  return (
    <Card withBorder padding="sm">
      <Group align="flex-start" wrap="nowrap">
        {selection}
        <Stack gap={4} style={{ minWidth: 0, flex: 1 }}>
          <Group justify="space-between" gap="xs">
            <Anchor component={Link} to={to} fw={600} underline="always">
              {name}
            </Anchor>
            <Badge
              variant="light"
              color={color}
              tt="none"
              styles={{ label: { color: "var(--mantine-color-text)" } }}
            >
              {label}
            </Badge>
          </Group>
          <Text size="sm" c="dimmed" component="div">
            {summary}
          </Text>
          {effects.map((effect) => (
            <Text size="sm" key={effect} style={{ overflowWrap: "anywhere" }}>
              → {effect}
            </Text>
          ))}
          {reason !== null && <Text size="sm">{reason.message}</Text>}
          {remains?.map((text) => (
            <Text size="sm" key={text}>
              Still in force: {text}
            </Text>
          ))}
        </Stack>
      </Group>
    </Card>
  );
}

function WorkflowCard({ workflow, selection }: { workflow: ChangedWorkflow; selection?: ReactNode }) {
  const { workflow_id: id, name, changes, ...rest } = workflow;
  return (
    <ChangeCard
      to={`/workflows/${encodeURIComponent(id)}/versions`}
      name={name}
      summary={
        <>
          {changes.map(describeChange).join(", ")} · <Time at={changes.at(-1)!.last_at} ago />
        </>
      }
      outcome={rest.outcome}
      effects={rest.effects}
      reason={rest.reason}
      selection={selection}
    />
  );
}

interface SubscriptionCardProps {
  subscription: ChangedSubscription;
  selection?: ReactNode;
}

function SubscriptionCard({ subscription, selection }: SubscriptionCardProps) {
  const { subscription_id: id, name, changes, ...rest } = subscription;
  return (
    <ChangeCard
      to="/notifications"
      name={name ?? id}
      summary={
        <>
          {changes.map(describeOperation).join(", ")} · <Time at={changes.at(-1)!.last_at} ago />
        </>
      }
      outcome={rest.outcome}
      effects={rest.effects}
      reason={rest.reason}
      remains={rest.remains}
      selection={selection}
    />
  );
}

function TriggerCard({ trigger }: { trigger: RotatedTrigger }) {
  const { workflow_id: id, trigger: name, count, rotated_at: at, ...rest } = trigger;
  return (
    <ChangeCard
      to={`/workflows/${encodeURIComponent(id)}`}
      name={
        <>
          <WorkflowName id={id} />: {name}
        </>
      }
      summary={
        <>
          {describeOperation({ label: "replaced its URL", count })} · <Time at={at} ago />
        </>
      }
      outcome={rest.outcome}
      effects={rest.effects}
      reason={rest.reason}
      remains={rest.remains}
    />
  );
}

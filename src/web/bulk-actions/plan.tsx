/** What a bulk action does: for each version the reused steps, the executed ones, and effects that may happen again. */
import { Alert, Card, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { Fragment } from "react";
import { MAX_BULK_RUNS } from "../../../schemas/bulk-action-limits.ts";
import type { BulkAction, BulkActionPlan, SkippedRuns } from "../../../schemas/bulk-action.ts";
import { RunLink } from "../runs/facts.tsx";
import { pluralize } from "../runs/labels.ts";
import { Id, MarkedText } from "../ui/id.tsx";
import { endSentence } from "../ui/sentence.ts";
import { WorkflowName } from "../workflows/names.tsx";
import { describeSteps, skipLabel } from "./texts.ts";

interface PlanProps {
  plan: readonly BulkActionPlan[];
  /** Whether it is shown in a dialog, beside which links open. */
  inDialog?: boolean;
}

export function Plan({ plan, inDialog = false }: PlanProps) {
  // Single steps, and runs with definitions of their own, can have groups that are equal.
  const groups = plan.map((group, position) => ({ key: position, group }));
  return (
    <Stack component="ul" gap="sm" m={0} p={0} aria-label="Plan" style={{ listStyle: "none" }}>
      {groups.map(({ key, group }) => (
        <Card key={key} component="li" withBorder p="sm" style={{ overflowWrap: "anywhere" }}>
          <VersionPlan group={group} inDialog={inDialog} />
        </Card>
      ))}
    </Stack>
  );
}

function VersionPlan({ group, inDialog }: { group: BulkActionPlan; inDialog: boolean }) {
  const {
    workflow_id: workflow,
    version,
    changed = false,
    runs,
    reused = {},
    run = {},
    effects = [],
  } = group;
  const others = effects.filter(({ again }) => again === 0);
  return (
    <Stack gap={6}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {workflow === null ? (
            "Single steps"
          ) : (
            <>
              <WorkflowName id={workflow} />, version {version}
              {changed && ", with a changed definition"}
            </>
          )}
        </Text>
        <Text size="sm">{pluralize(runs, "run")}</Text>
      </Group>
      <Steps label="Reused" text={describeSteps(reused, runs)} />
      <Steps label="Executed" text={describeSteps(run, runs)} />
      <Steps
        label="Effects"
        text={describeSteps(Object.fromEntries(others.map((effect) => [effect.step, effect.runs])), runs)}
      />
      {effects
        .filter(({ again }) => again > 0)
        .map(({ step, type, again, first }) => (
          <Alert
            key={step}
            color="red"
            p="xs"
            role="note"
            icon={<IconAlertTriangle aria-hidden />}
            title={
              <>
                <Id>{step}</Id> ({type}) may happen again in {pluralize(again, "run")}
              </>
            }
          >
            <Text size="sm">
              It was attempted in: <RunLinks ids={first} total={again} newTab={inDialog} />
            </Text>
          </Alert>
        ))}
    </Stack>
  );
}

function Steps({ label, text }: { label: string; text: string }) {
  if (text === "") return null;
  return (
    <Text size="sm">
      <Text span inherit c="dimmed">
        {label}:{" "}
      </Text>
      <MarkedText text={text} />
    </Text>
  );
}

/** A bulk action has a maximum number of runs, and leaves out the others. */
export function MoreRuns({ title }: { title: string }) {
  return (
    <Alert color="yellow" title={title} role="note">
      <Text size="sm">
        A bulk action takes the newest {MAX_BULK_RUNS.toLocaleString()}. For the others, start another one
        once this one has ended.
      </Text>
    </Alert>
  );
}

interface SkippedProps {
  bulkAction: Pick<BulkAction, "skipped" | "action">;
  inDialog?: boolean;
}

/** With which runs nothing happens, and why. */
export function Skipped({ bulkAction: { skipped, action }, inDialog = false }: SkippedProps) {
  return (
    <Stack component="ul" gap={4} m={0} p={0} aria-label="Skipped" style={{ listStyle: "none" }}>
      {skipped.map(({ reason, runs, first, message }: SkippedRuns) => (
        <Text key={reason} component="li" size="sm" style={{ overflowWrap: "anywhere" }}>
          {pluralize(runs, "run")}: {skipLabel(reason, action)} (
          <RunLinks ids={first} total={runs} newTab={inDialog} />)
          {message !== undefined && `. ${endSentence(message)}`}
        </Text>
      ))}
    </Stack>
  );
}

/** The first runs as links, and the number of the others. */
function RunLinks({ ids, total, newTab }: { ids: readonly string[]; total: number; newTab: boolean }) {
  const others = total - ids.length;
  return (
    <>
      {ids.map((id, index) => (
        <Fragment key={id}>
          {index > 0 && ", "}
          <RunLink id={id} newTab={newTab} />
        </Fragment>
      ))}
      {others > 0 && ` and ${others.toLocaleString()} more`}
    </>
  );
}

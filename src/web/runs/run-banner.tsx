/** At the top of a run: why it failed and what to do, whom it waits for, or why it has not begun. */
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconBan, IconRubberStamp } from "@tabler/icons-react";
import { Link } from "react-router";
import { useHasScope } from "../app/session.tsx";
import { describeFailure } from "./failure.ts";
import type { ShownRun } from "./live-updates.ts";

export function RunBanner({ run }: { run: ShownRun }) {
  if (run.status === "failed") return <Failure run={run} />;
  if (run.status === "cancelled") return <Cancelled run={run} />;
  if (run.status === "queued" && run.next !== undefined) return <Text size="sm">{forPeople(run.next)}</Text>;
  return <Approvals run={run} />;
}

function Failure({ run }: { run: ShownRun }) {
  const failure = describeFailure(run);
  if (failure === undefined) return null;
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title="It failed" role="note">
      <Text style={{ overflowWrap: "anywhere", whiteSpace: "pre-line" }}>
        {failure.what} <strong>Do this:</strong> {failure.fix}
      </Text>
    </Alert>
  );
}

function Cancelled({ run }: { run: ShownRun }) {
  const may = useHasScope();
  return (
    <Alert color="gray" icon={<IconBan aria-hidden />} title="It was cancelled" role="note">
      <Text size="sm">
        {run.error?.message ?? "What it had done stays done."}
        {may("run") && " Retry goes on from there: what succeeded is reused."}
      </Text>
    </Alert>
  );
}

function Approvals({ run: { approvals } }: { run: ShownRun }) {
  const may = useHasScope();
  if (approvals === undefined || approvals.length === 0) return null;
  return (
    <Alert
      color="yellow"
      icon={<IconRubberStamp aria-hidden />}
      title="It waits for somebody to decide"
      role="note"
    >
      <Stack gap="sm">
        {approvals.map(({ id, step_id: step, message }) => (
          <Group key={id} justify="space-between" gap="sm">
            <Text size="sm" lineClamp={3} style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
              {message}
            </Text>
            <Button
              component={Link}
              to={`/approvals/${id}`}
              size="xs"
              variant="default"
              aria-label={`${may("approve") ? "Look and decide" : "Look"}: ${step}`}
            >
              {may("approve") ? "Look and decide" : "Look"}
            </Button>
          </Group>
        ))}
      </Stack>
    </Alert>
  );
}

/** What the API says to programs, up to how they would ask again. */
const forPeople = (next: string): string => next.split(" Ask again with ", 1)[0]!;

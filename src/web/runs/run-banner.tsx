/** The banner of a run: its open interruptions, why it failed and how to fix it, its pending approvals, or why it is still queued. */
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconBan, IconFlask, IconPencil, IconRubberStamp } from "@tabler/icons-react";
import { Link } from "react-router";
import { withoutApiWords } from "../api/api-words.ts";
import { RunInterruptions } from "../interruptions/run-interruptions.tsx";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { MarkedText } from "../ui/id.tsx";
import { WorkflowName } from "../workflows/names.tsx";
import { describeFailure } from "./failure.ts";
import type { LiveRun } from "./live-updates.ts";

export function RunBanner({ run }: { run: LiveRun }) {
  return (
    <>
      {run.trial === true && (
        <Alert color="blue" icon={<IconFlask aria-hidden />} title="Trial" role="note">
          <Text size="sm">This run executes no step with effects, and changes no state.</Text>
        </Alert>
      )}
      <RunInterruptions run={run} />
      <StatusBanner run={run} />
      {run.patched === true && <ModifiedDefinition run={run} />}
    </>
  );
}

/** The definition of a run that differs from that of its version can be kept. */
function ModifiedDefinition({ run }: { run: LiveRun }) {
  const { id, workflow_id: workflow, version } = run;
  const may = useHasScopeIn(run);
  if (workflow === null || !may("write")) return null;
  return (
    <Alert color="blue" icon={<IconPencil aria-hidden />} title="Modified definition" role="note">
      <Group justify="space-between" gap="sm">
        <Text size="sm">
          This run used a modified definition of version {version}, which is saved in no version.
        </Text>
        <Button component={Link} to={`/workflows/${workflow}/edit?from=${id}`} size="xs" variant="default">
          Save as a version
        </Button>
      </Group>
    </Alert>
  );
}

function StatusBanner({ run }: { run: LiveRun }) {
  if (run.status === "failed") return <Failure run={run} />;
  if (run.status === "cancelled") return <Cancelled run={run} />;
  if (run.status === "queued" && run.next !== undefined)
    return <Text size="sm">{withoutApiWords(run.next)}</Text>;
  return <Approvals run={run} />;
}

function Failure({ run }: { run: LiveRun }) {
  const failure = describeFailure(run);
  if (failure === undefined) return null;
  return (
    <>
      <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title="Run failed" role="note">
        <Text style={{ overflowWrap: "anywhere", whiteSpace: "pre-line" }}>
          <MarkedText text={failure.summary} /> <strong>How to fix:</strong> <MarkedText text={failure.fix} />
        </Text>
      </Alert>
      <HandlerFailure run={run} />
    </>
  );
}

/** Says why the workflow that runs when this one fails could not start. */
function HandlerFailure({ run: { on_failure: handler } }: { run: LiveRun }) {
  if (handler?.error === undefined) return null;
  return (
    <Alert
      color="red"
      icon={<IconAlertTriangle aria-hidden />}
      title={
        <>
          “<WorkflowName id={handler.workflow_id} />” could not start
        </>
      }
      role="note"
    >
      <Text style={{ overflowWrap: "anywhere" }}>
        It should have run because this run failed. {withoutApiWords(handler.error.message)}
      </Text>
    </Alert>
  );
}

function Cancelled({ run }: { run: LiveRun }) {
  const may = useHasScopeIn(run);
  return (
    <Alert color="gray" icon={<IconBan aria-hidden />} title="Run cancelled" role="note">
      <Text size="sm">
        {run.error?.message ?? "Completed steps stay as they are, unless they have an undo."}
        {may("run") && " A retry reuses the steps that succeeded."}
      </Text>
    </Alert>
  );
}

function Approvals({ run }: { run: LiveRun }) {
  const { approvals } = run;
  const may = useHasScopeIn(run);
  if (approvals === undefined || approvals.length === 0) return null;
  return (
    <Alert color="yellow" icon={<IconRubberStamp aria-hidden />} title="Needs approval" role="note">
      <Stack gap="sm">
        {approvals.map(({ id, step_id: step, message, progress }) => (
          <Group key={id} justify="space-between" gap="sm">
            <Text size="sm" lineClamp={3} style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
              {message}
              {progress !== undefined && ` (${progress})`}
            </Text>
            <Button
              component={Link}
              to={`/approvals/${id}`}
              size="xs"
              variant="default"
              aria-label={`${may("approve") ? "Review" : "View"} ${step}`}
            >
              {may("approve") ? "Review" : "View"}
            </Button>
          </Group>
        ))}
      </Stack>
    </Alert>
  );
}

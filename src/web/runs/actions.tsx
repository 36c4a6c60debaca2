/** The actions on a run: cancel, retry, and edit and retry. */
import { Button } from "@mantine/core";
import {
  IconArrowsDiff,
  IconBan,
  IconFilePlus,
  IconPencil,
  IconPlayerPlay,
  IconRefresh,
} from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { send } from "../api/client.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { Id } from "../ui/id.tsx";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { useRetry } from "./retry.tsx";
import { hasEnded, type LiveRun } from "./live-updates.ts";
import { RunName } from "./run-name.tsx";
import { useIdempotencyHeader } from "./use-idempotency-header.ts";

/** Opens the comparison with the last good run, where any other one can be chosen. */
export const CompareLink = ({ runId }: { runId: string }) => (
  <Button
    component={Link}
    to={`/runs/${runId}/compare`}
    variant="default"
    leftSection={<IconArrowsDiff size={16} aria-hidden />}
  >
    Compare
  </Button>
);

export function RunActions({ run }: { run: LiveRun }) {
  const may = useHasScopeIn(run);
  if (!may("run")) return null;
  // Keyed by run, so that each run gets its own idempotency keys.
  return hasEnded(run) ? <RetryButtons key={run.id} run={run} /> : <CancelButton key={run.id} run={run} />;
}

function CancelButton({ run }: { run: LiveRun }) {
  const client = useQueryClient();
  const headerFor = useIdempotencyHeader();
  const cancel = useSingleFlightMutation({
    mutationFn: () =>
      send("post", "/runs/{run_id}/cancel", { path: { run_id: run.id }, header: headerFor({}), body: {} }),
    onSuccess: () => notifyCancelled(run),
    onError: (error) => notifyError("Could not cancel the run", error),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["runs"] }),
        client.invalidateQueries({ queryKey: ["approvals"] }),
      ]),
  });
  const stopping = run.stopping === true || cancel.isPending;
  return (
    <Button
      variant="default"
      leftSection={<IconBan size={16} aria-hidden />}
      loading={stopping}
      onClick={() => confirmCancel(run, cancel.mutate)}
    >
      Cancel
    </Button>
  );
}

const notifyCancelled = (run: LiveRun): string =>
  notifySuccess(
    <>
      Run of <RunName run={run} /> cancelled.
    </>,
  );

const confirmCancel = (run: LiveRun, cancel: () => void): void =>
  confirmAction({
    title: (
      <>
        Cancel the run of <RunName run={run} />?
      </>
    ),
    consequence: (
      <>
        This stops <Id>{run.id}</Id> and the runs it started. Completed steps are not undone. You can retry
        the run afterwards.
      </>
    ),
    confirm: "Cancel run",
    cancel: "Keep running",
    onConfirm: cancel,
  });

const CreateWorkflowLink = ({ run }: { run: LiveRun }) => (
  <Button
    component={Link}
    to={`/runs/${run.id}/workflow`}
    variant="default"
    leftSection={<IconFilePlus size={16} aria-hidden />}
  >
    Create workflow
  </Button>
);

function RetryButtons({ run }: { run: LiveRun }) {
  const may = useHasScopeIn(run);
  const retry = useRetry(run);
  // A single step is retried as it was, and has no workflow that could run again.
  if (run.workflow_id === null && run.status === "succeeded")
    return may("write") ? <CreateWorkflowLink run={run} /> : null;
  return (
    <>
      {run.workflow_id !== null && (
        <Button
          component={Link}
          to={`/workflows/${run.workflow_id}/run?from=${run.id}`}
          variant="default"
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
        >
          Run again
        </Button>
      )}
      {may("write") && run.workflow_id !== null && (
        <Button
          component={Link}
          to={`/runs/${run.id}/retry`}
          variant="default"
          leftSection={<IconPencil size={16} aria-hidden />}
        >
          Edit and retry
        </Button>
      )}
      {/* A retry of a succeeded run would reuse every step. */}
      {run.status !== "succeeded" && (
        <Button
          leftSection={<IconRefresh size={16} aria-hidden />}
          loading={retry.isPending}
          onClick={() => retry.mutate({})}
        >
          {/* One element, because the label is a flexible box without spaces. */}
          <span>
            Retry
            {run.failed_step !== undefined && (
              <>
                {" from "}
                <Id>{run.failed_step.id}</Id>
              </>
            )}
          </span>
        </Button>
      )}
    </>
  );
}
